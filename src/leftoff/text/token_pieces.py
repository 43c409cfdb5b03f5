"""Hold the pieces of words and marks that cost one token each, and the prices of other scripts.

Only data: `text/budget.py` divides texts into these pieces.
"""

# Words that are one token.
WHOLE = frozenset(
    """
    A a about above access account across action active add added address After after again
    against align All all already also always An an and another any API api app append
    application are args around array as async at author available await B b back background
    base based be because been before being below better between block body border both box
    break build building built But but by C c call called can case center change char check
    child class client close co code color column com command common component components config
    console const container content context control core could count create created current D d
    data database date db de def default define description design details development device
    did different display div django do document does don done during E e each either else email
    en end env err error even event events every example except export external F f False false
    features field File file files final find first following font For for force form format
    found free From from full func function future g General get git github given global go got
    green group H h has have head header help here home host How how href html http https I i id
    If if image img import In in include included including index info information init input
    install int into io is It it item items its j java job join js json just k key known l label
    language large last later least left len length let level li library License license like
    line link links List list load local location log login long look M m made main make many
    map match max may md me means message method might model models module more most move must
    my n name named names native need net never New new next No no node non None none not note
    now null number o object of off old On on once one only open option options or order org
    original os other our out output over override own P p package page param params part
    password path per place please port position post print private process product production
    program project property public published push py python q query question R r range re react
    read README real received record red references region register related release render
    report req request require required res research response result results return review right
    root row run running S s same save script search second section security See see select self
    send server service session set several share short should show side since single size small
    so software some something source span special split src start started state static status
    step still store str String string style success such support system T t table take target
    task td template test text than That that The the their them then There there These these
    they This this those through time title To to token too top total True true try two type
    types U u under union up update url us use used User user username users using util v value
    values var version very via view void w want was way We we web website well were What what
    When when where which while why width will window with within without word words work
    working works would write written www X x y You you your z
    """.split()
)
# How other words begin, go on and end.
FIRST = frozenset(
    """
    A a ab abs ac acc act ad add addit adm adv ag al all am an anal ann answ AP ap app appl
    appro ar arch archit arg art as ass at att au aud aut auth autom av B b ba bab back bas bat
    be beg beh ben bi bin bl bo br bran bre bri bro brow bu buil by C c ca cal call cap cat ch
    chang char charac chec cho cl cla class clos CO co cod col coll com comm committ comp compl
    complet comput con conc cond conf config conn cons const cont contain contin conv cop cor
    corre coun count cr cre create cred cs cur curr cust custom D d da dat dav de deb dec def
    defin del dep der des det determ dev develop di direct dis disc dist do doc docum dom down
    dr du E e ear eas ech ed edit eff el em emb emp en enc end eng ent environ equ err es esc
    est et ev ever ex exam exec execut exist exp exper expl ext F f fa fail fe fil fin find fl
    fo fol foll for form fr fram funct G g ge gener get gl glob go gr gra gre gro gu H h hand
    happ har he head hel high hom I i ic id ident im imp impl import impro IN In in inc includ
    ind init ins inst install int integ inter intern inv is iss it J j K k ke kn L l lab lat lay
    le lear leg lib lic lik lim lin list liter lo loc local log long loo M m ma mac mach mak man
    manag mar mark mat me mem mer mess MET met meth mig min miss mo mod mon ms mult N n na need
    new no norm not np num O o ob obj off om on op open oper opt or organ orig ot out over ow P
    p pa pack par part pass pat per perform perm pers ph pl plac plan plat play PO po polic pos
    poss pr pre prec previ prim print pro probl process produ prof prog program proj prom proper
    prot prov provid publ pur Q q qu que quest R r ra RE re read real rec red ref reg regist rel
    rele rem remov ren rep repl requ res resp respon rest ret retur rev ro rout run S s sa saf
    sc sch scre se sear sec seg sel sem separ ser set sett sh show sign sil sim simil sk sl sn
    sol sp spec spring ST St st sta stand star start stat ste stor str stre stru struct su sub
    subm success summ sup sur sv swit sy sym syst T t ta tak targ techn tel tem templ ter test
    TH th them thro tim to tod tou tr tra trans transl tri tru tur tw tx typ U u un und underst
    unt up upd UR ur US us use ut V v val valid vari ver vers vict vis W w wa war we web wh wind
    wor work writ X x Y y z
    """.split()
)
INNER = frozenset(
    """
    AB ab able AC ac ach ack act AD ad af ag age ail ain air ak AL al all am ame AN an anc and
    ang ann ant Ap ap app AR Ar ar ard arg art AS as asc ash ass ast AT at ata ate ateg ath
    ation att au av aw ay bo By cc ce Ch ch ck Cl cl Col Com Con con Cont ct dd der dit du ear
    eb EC ec ect ed edi ef eg eh ej EL el ell em ement emp EN en enc end ens ent eP ep epend equ
    ER Er er erc erg erm ers ert ES es esc esp ess est ET et ett ev ew Ex ex ext fer ff fl For
    for form fram ft gg gin gu he her ial ializ ib IC ic ick ict id ie ient if ific ig igh ign
    IL il ild ile ill Im im IN In in ind ine ing int io ion ip ir ire IS is isp iss ist IT it
    ith itt ity iv ix iz kn ks kt ld le led let li ll lo lt lu Man min Mod nc nd ne ni nt Ob ob
    oc ock OD od og oint ok ol oll om omm omp ON on ond ong ont oo ook oot op OR or ord orm ort
    os osit oss ost ot oth ou oun our ov ow own oz Par par per ph pl plo pon por port pos pp pr
    Pro pro pt put qu ra rac rad ran RE Re re red reg Res res ress ri rib ribut ring rip RO ro
    rom ron rop ru ruct ry Sc sc se ser Serv Sh sh sk sl sp ss St st sw te ter tern Th th tic To
    tt tur ub ud ue ug UL ul ular ull ult um un und up UR ur ure urs us ush ust ut Val ve vent
    ver vers vi wor yb yc yg yl yn yp yS ys yst yt
    """.split()
)
LAST = frozenset(
    """
    A a ab ability able ables ac ace ach ache ached ack act ad ada ade ader ading ads ag age
    ager ages ags ai ail ails ain ained ains air ait ak al ale ality all ally als am ame ample
    ams an ance and ands ang ano ans ant ants ap ape ar ard ards are ared ark ars art ary as ase
    ases ash ask ason ass ast at ata ate ated ately ates ath ather ating ation ations ative ator
    ators ats ature ault ause ave ax ay ays B b ba back C c ca ce ced ception ces ch ched ches
    ching ci ck ct ction D d Data ded den der ders ding ds E e ea ead ean ear ec ect ected
    ection ections ects ED ed ee ees ef el ell ello els ely em ema ement ements ems en ename
    ence ences ency end ended ending ends ening ens ension ent ented ential ently ents ep ept ER
    er ere ered ering ern ero Error ers ert ery ES es ess ession est ested ests ET et ete ether
    ets ety ev ever ew ework ex ext ey F f face ference ff form ft ful G g ge ged ger ges ging
    ground H h ha her I i ia ial ially ials ian ias ib ible ic ical ically ication ice ices ick
    ics ict ID Id id ide ided ider ides ie ied ield ields ient ier ies if ific ification ified
    ify ig ight ights ign il ile ility ill ills ils ily im ime in ind ine ined ines ING ing ings
    ini ining ins int ints io ION ion ional ions ior ip ir ire ires is ise ises ish ished ision
    ission ist ists it ite ited ith ities ition its ity ium ive ived ively ives ix ization ize
    ized j ject K k ke ked ken ker ket ki king ks L l le led ler les less li line ling ll ller
    load ls ly M m ma ME me ment ments ming ML ml ms N n Name name ND ned ner ni ning ns O o ob
    ock od ode ods of og ok ol old ole om ome ON on one ong ons ook ool ools op ope ops or ora
    ore ored ores ories ors ort ory os ose ository ost ot ote ount our ource ources ous ously
    out ove over ow own ows ox P p ped per ph ping ple ples ply port ported ports ps ption put q
    R r ra ract ration ray re read ready ream red ree ref ren ress ression ret ri ries right
    ring ript ro ross ry S s se self ser ses set side son ss ST State String T t ta te ted ten
    ter ters Text th ths ties ting to ts ture ty Type U u ual ually ub ude ue ues ug ui ul ular
    ule ules ull ully ult ults um ume ument un up ups ure ured ures us used ust ut ute ution ux
    V v val ve ved ven ver ves view ving W w ward ware ws X x Y y ying ync ype ys ything z ze
    """.split()
)
# Sessions use two dashes, the bullet, the ellipsis, an arrow and a line like other marks. Patterns
# with such characters take ten times longer to compile, so control characters stand in for them.
STAND_INS = str.maketrans(
    "\u2013\u2014\u2022\u2026\u2192\u2500\x80\x81\x82\x83\x84\x85",
    "\x80\x81\x82\x83\x84\x85" + 6 * "\u2bff",
)
_SIDES = ((" ", ""), ("", " "), (" ", " "))
# Runs of marks that are one token; "~" is a space beside them, which then costs nothing.
MARKS = frozenset(
    piece.replace("~", " ")
    for piece in r'''
    !~ "" ") "). "); ")~ ", "," ",~ ". ": ":~ "; "> "~ #### ###### ######## ############
    ################ ###~ ##~ #~ ${ %~ &~ '' ') '); ')~ ', ',~ ': ':~ '; '~ (" (' (( () ()) ());
    (). (); ()~ ([ ({ (~ )) )); ), ),~ ). ).~ ): ):~ ); );~ )~ ** **** ****** ********
    ************ **~ *~ ++ ,~ -- --- ---- ------ -> -~ ." ."~ .,~ .. ... .... ...... ........
    ............ ................ ...~ ../ ./ ._ .~ // /// //// //~ :// :: :~ ;~ </ <~ =" =' ==
    === ==== ====== ======== ============ ================ ==~ ={ =~ >< ></ >~ ???? ?~ [" [' ](
    ]) ], ],~ ]. ]; ][ ]~ __ ____ ______ ________ `` `~ |~ }) }); }, }; }~ ~! ~!=~ ~" ~""" ~"~
    ~# ~#~ ~$ ~% ~%~ ~& ~&&~ ~&~ ~( ~()~ ~) ~); ~* ~** ~*/ ~*~ ~+ ~+=~ ~+~ ~,~ ~- ~-- ~-~ ~. ~.~
    ~/ ~// ~//~ ~/> ~/~ ~: ~:=~ ~:~ ~< ~</ ~<~ ~= ~===~ ~==~ ~=>~ ~=~ ~> ~>~ ~@ ~[ ~[] ~\ ~_ ~__
    ~` ~{ ~{~ ~| ~||~ ~|~ ~} ~}) ~}); ~}, ~}; ~}~
    '''.split()
) | {
    *(f"{before}{mark}{after}" for mark in "\x80\x81\x82\x83" for before, after in _SIDES),
    " \x84",
    " \x84 ",
    4 * "\x85",
}

# First and last character of each script, in order, and the price of a character. A regular
# expression for each script would take longer to compile than the rest of a session start.
SCRIPTS: tuple[tuple[str, str, float], ...] = (
    ("\x86", "\xbf", 2.2),
    ("\xc0", "\u024f", 2.2),
    ("\u0370", "\u03ff", 1.38),
    ("\u0400", "\u052f", 0.64),
    ("\u0590", "\u05ff", 1.38),
    ("\u0600", "\u06ff", 1.25),
    ("\u0900", "\u0dff", 2.15),
    ("\u0e00", "\u0e7f", 1.88),
    ("\u1e00", "\u1eff", 2.4),
    ("\u2000", "\u2017", 3.0),
    ("\u2018", "\u201d", 2.0),
    ("\u201e", "\u24ff", 3.0),
    ("\u2500", "\u259f", 2.0),
    ("\u25a0", "\u2bff", 3.0),
    ("\u3000", "\u303f", 2.1),
    ("\u3040", "\u30ff", 0.83),
    ("\u3400", "\u9fff", 1.63),
    ("\uac00", "\ud7a3", 1.39),
    ("\ufe00", "\ufe0f", 3.0),
    ("\uff00", "\uff1f", 2.5),
    ("\uff20", "\uffef", 3.0),
)
