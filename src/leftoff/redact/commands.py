"""Passwords on the command lines of common tools, found by the option that takes them.

In `cut`, `<pw>` is a placeholder for the password. `stays` must not change. `<value>` is one word
or a quoted text, `<q>` a quote with its backslashes.
"""

from typing import NamedTuple


class CommandRule(NamedTuple):
    """Tools, and what follows their name in the same command; the group is the secret."""

    tools: str
    pattern: str
    judge: str
    cut: tuple[str, ...]
    stays: tuple[str, ...] = ()
    kind: str = "password"


# The letters and words of the options below. A line without any of them is skipped.
LETTERS = b"pPuUawAXbhDkKN"
# Letters that `curl -sku` may have before the one that counts.
BEFORE_USER = b"[fikLsSv]{1,5}u"
LONG_OPTIONS = (
    b"-nb",
    b"-cb",
    b"-mb",
    b"--from-literal",
    b"--user",
    b"--proxy-user",
    b"--auth",
    b"--body",
    b"--value",
    b"--secret-string",
    b"--secret-data",
    b"--string-value",
)

COMMANDS: tuple[CommandRule, ...] = (
    CommandRule(
        "mysql mysqldump mysqladmin mysqlimport mysqlshow mysqlcheck mysqlsh mycli mariadb "
        "mariadb-dump mariadb-admin mariadb-check mariabackup xtrabackup",
        r"(?-i:-p)(?!ort\b|lugin|rotocol)"
        r"(?:<q>([^\"'\\\r\n]{3,128})<q>|([^\s\"'`\\=-][^\s\"'`\\]{2,128}))",
        "in_command",
        (
            "mysql -h db -u root -p<pw> app",
            "mysqldump -uroot -p'<pw>' app > dump.sql",
            "mariadb -u root -p<pw>",
            "mycli -u root -p<pw>",
            "docker exec -it db mysql -u root -p<pw> app",
            "kubectl exec db-0 -- mysqldump -uroot -p<pw> app",
        ),
        ("mysql -p -u root", "mysql -u root -p$PASS", "mysql -uroot -port 3306"),
    ),
    CommandRule(
        "7z 7za 7zz 7zr rar unrar",
        r"(?-i:-h?p)(?:<q>([^\"'\\\r\n]{3,128})<q>|([^\s\"'`\\=][^\s\"'`\\]{2,128}))",
        "in_command",
        ("7z x -p<pw> secret.7z", "7z a -mhe=on -p'<pw>' a.7z b", "unrar x -p<pw> a.rar"),
        ("7z x -pr a.7z",),
    ),
    CommandRule(
        "plink pscp psftp putty kitty",
        r"(?-i:-pw)[ ]<value>",
        "in_command",
        ("plink -pw <pw> me@x.test", "pscp -pw '<pw>' a me@x.test:"),
        ("plink -pw $PASS me@x.test", "plink -pwfile a me@x.test"),
    ),
    CommandRule(
        "ssh-keygen",
        r"(?-i:-[NP])[ ]?<value>",
        "in_command",
        ("ssh-keygen -t rsa -N '<pw>' -f k", "ssh-keygen -p -P <pw> -f k"),
        ("ssh-keygen -t rsa -N $PASS -f k", "ssh-keygen -t ed25519 -N '' -f k"),
    ),
    CommandRule(
        "security",
        r"(?:add-(?:generic|internet)-password|(?:unlock|create)-keychain|import"
        r"|set-key-partition-list)\b[^\r\n]{0,200}?[ ](?-i:-[wpPk])[ ]<value>",
        "in_command",
        (
            "security add-generic-password -a ada -s x -w <pw>",
            "security unlock-keychain -p '<pw>' login.keychain",
        ),
        ("security find-generic-password -a ada -w", "security unlock-keychain -p $PASS a"),
    ),
    CommandRule(
        "sshpass",
        r"(?-i:-p)[ =]?<value>",
        "given",
        ("sshpass -p <pw> ssh host", "sshpass -p'<pw>' scp a b:", "sshpass -p123456 ssh host"),
        (
            "sshpass -p $PASS ssh host",
            "sshpass -e ssh host",
            "sshpass must support the -P option here",
        ),
    ),
    CommandRule(
        "mongo mongosh mongodump mongorestore mongoexport mongoimport mongostat cqlsh useradd "
        "usermod influx netexec nxc crackmapexec evil-winrm rabbitmqadmin psexec psexec64 hydra "
        "smbmap ncftp impala-shell twine arangosh cbq couchbase-cli supabase impacket-psexec "
        "neo4j-shell cypher-shell ncftpput ncftpget ncftpls snowsql beeline rdesktop",
        r"(?-i:-p)[ =]<value>",
        "in_command",
        (
            "mongosh --host db -u admin -p <pw>",
            "mongodump -u admin -p '<pw>' --db shop",
            "cqlsh db.test -u me -p <pw>",
            "psexec \\\\10.0.0.1 -u Administrator -p <pw>",
            "twine upload -u me -p <pw> dist/*",
        ),
        ("mongosh -p -u me", "mongodump -p $PASS", "mongosh -p 27017"),
    ),
    CommandRule(
        "docker podman nerdctl buildah skopeo helm oras crane regctl az oc heroku cf ibmcloud "
        "argocd rancher ko flux",
        r"\blogin[ ](?:[^\r\n]{0,200}?[ ])?(?-i:-p)[ =]?<value>",
        "in_command",
        (
            "docker login -u me -p <pw> x.test",
            "podman login -u=me -p='<pw>' x.test",
            "helm registry login x.test -u me -p <pw>",
            "az login --service-principal -u id -p <pw> --tenant t",
        ),
        ("docker run -p 8080:80 image", "docker login -u me -p $PASS x.test"),
    ),
    CommandRule(
        "zip unzip zipcloak ipmitool sqlcmd bcp osql isql tsql mosquitto_pub mosquitto_sub "
        "mosquitto_rr mosquitto_passwd",
        r"(?-i:-P)[ =]?<value>",
        "in_command",
        (
            "zip -P <pw> a.zip b",
            "unzip -P '<pw>' a.zip",
            "ipmitool -I lanplus -H bmc -U admin -P <pw> power status",
            "sqlcmd -S db -U sa -P <pw> -Q 'select 1'",
            "mosquitto_pub -h mq -u me -P <pw> -t a -m b",
        ),
        ("zip -P $PASS a.zip b",),
    ),
    CommandRule(
        "curl curlie xh http https httpie ab siege grpcurl wrk hey aria2c etcdctl",
        r"(?:-[fikLsSv]{0,5}u|--user|--proxy-user|-U|-a|--auth|-A)"
        r"[ =]?(?:<q>)?[^\s:\"'\\$/]{1,100}:"
        r"([^\s\"'\\]{1,200})",
        "in_command",
        (
            "curl -s -u admin:<pw> https://x.test",
            "curl --user 'admin:<pw>' https://x.test",
            "curl -uadmin:<pw> https://x.test",
            "curl -sku admin:<pw> https://x.test",
            "curl --proxy-user me:<pw> https://x.test",
            "etcdctl --user root:<pw> get a",
            "http -a me:<pw> GET x.test",
        ),
        ("curl -u $USER:$PASS https://x.test", "curl -u me https://x.test:8080/"),
    ),
    CommandRule(
        "curl http https httpie xh",
        r"(?-i:-u|--user|-a|--auth)[ =]?(?:<q>)?([^\s:\"'\\$/]{12,500}):(?![^\s\"'`\\])",
        "without_scheme",
        ("curl https://x.test -u <token>:", "curl -u '<token>:' -d a=b https://x.test"),
        ("curl -u some-long-user-name: https://x.test",),
        kind="token",
    ),
    CommandRule(
        "lftp",
        r"-u[ =]?(?:<q>)?[^\s,\"'\\$]{1,100},([^\s\"'\\]{1,200})",
        "in_command",
        ("lftp -u me,<pw> ftp.test",),
        ("lftp -u me ftp.test",),
    ),
    CommandRule(
        "redis-cli valkey-cli keydb-cli redis-benchmark",
        r"-a[ =]<value>",
        "in_command",
        ("redis-cli -h cache -a <pw> ping", "redis-cli -a '<pw>'"),
        ("redis-cli -a $PASS",),
    ),
    CommandRule(
        "ldapsearch ldapadd ldapmodify ldapdelete ldappasswd ldapwhoami ldapcompare ldapmodrdn",
        r"(?-i:-w)[ ]?<value>",
        "in_command",
        ("ldapsearch -x -D cn=admin,dc=x -w <pw> -b dc=x", "ldapadd -w '<pw>' -f a.ldif"),
        ("ldapsearch -W -b dc=x", "ldapsearch -w $PASS"),
    ),
    CommandRule(
        "curl",
        r"(?-i:-b)[ =]?(?:<q>)?([\w.%-]{1,64}=[^\s\"'\\]{8,4096}"
        r"(?:;[ ][\w.%-]{1,64}=[^\s\"'\\]{0,4096}){0,40})",
        "in_cookie",
        ("curl -b 'session=<token>; theme=dark' https://x.test", "curl -s -b sid=<token> x.test"),
        ("curl -b cookies.txt https://x.test", "curl -b theme=highcontrast https://x.test"),
        kind="cookie",
    ),
    CommandRule(
        "netlify",
        r"--auth[ =]<value>",
        "in_command",
        ("netlify deploy --auth <token>", "netlify deploy --prod --auth=<token>"),
        ("netlify deploy --auth $NETLIFY_AUTH_TOKEN",),
        kind="token",
    ),
    CommandRule(
        "smbclient rpcclient net smbget smbtree winexe wmic nmblookup mount.cifs wbinfo",
        r"-U[ =]?(?:<q>)?[^\s%\"'$]{1,80}%([^\s\"'\\]{1,200})",
        "in_command",
        ("smbclient //srv/share -U me%<pw>", "net rpc info -U 'CORP\\me%<pw>' -S srv"),
        ("smbclient //srv/share -U me",),
    ),
    CommandRule(
        "snmpwalk snmpget snmpset snmpbulkwalk snmpbulkget snmpgetnext snmptable snmptrap "
        "snmpstatus",
        r"(?-i:-[AX])[ ]?<value>",
        "in_command",
        ("snmpwalk -v3 -u me -l authPriv -a SHA -A <pw> host", "snmpget -v3 -x AES -X <pw> host 1"),
        ("snmpwalk -v3 -A $PASS host", "snmpwalk -v3 -a SHA -x AES host"),
    ),
    CommandRule(
        "openssl",
        r"(?-i:-[kK])[ ]<value>",
        "in_command",
        ("openssl enc -aes-256-cbc -k <pw> -in a", "openssl enc -d -K <hex> -iv 00"),
        ("openssl enc -k $PASS -in a", "openssl req -key a.pem"),
    ),
    CommandRule(
        "java jenkins-cli jenkins",
        r"-auth[ =](?:<q>)?[^\s:\"'\\$/]{1,100}:([^\s\"'\\]{1,500})",
        "in_command",
        ("java -jar jenkins-cli.jar -s https://x.test -auth me:<pw> list-jobs",),
        ("java -jar jenkins-cli.jar -auth @file list-jobs",),
    ),
    CommandRule(
        "az aws gcloud doctl ibmcloud oci scw akeyless bws op infisical chamber databricks",
        r"(?:secrets?(?:manager)?|securestring|put-parameter)\b(?:[^\r\n]{0,300}?[ ])?"
        r"--(?:value|secret-string|secret-data|string-value)[ =]<value>",
        "in_command",
        (
            "az keyvault secret set --vault-name v --name n --value <pw>",
            "aws ssm put-parameter --name /a --type SecureString --value '<pw>'",
            "aws secretsmanager create-secret --name n --secret-string <pw>",
            "aws secretsmanager put-secret-value --secret-id n --secret-string '<pw>'",
            "databricks secrets put-secret s n --string-value <pw>",
        ),
        (
            "aws ssm put-parameter --name /a --type SecureString --value $PASS",
            "aws secretsmanager create-secret --name n --secret-string file://a.json",
            "az webapp config set --value on",
        ),
        kind="secret",
    ),
    CommandRule(
        "htpasswd",
        r"-[A-Za-z]{0,6}b[A-Za-z]{0,4}(?:[ ]-?[A-Z]?[ ]?\d{1,2})?[ ]"
        r"(?:[^\r\n]{0,200}[ ])?<value>[ \t]{0,4}(?:\Z|[\"'`}])",
        "in_command",
        ("htpasswd -b .htpasswd me <pw>", "htpasswd -nbB me '<pw>'"),
        ("htpasswd -b .htpasswd me $PASS",),
    ),
    CommandRule(
        "kubectl oc k minikube",
        r"--from-literal[ =](?:<q>)?[\w.-]{1,64}=(?:<q>)?([^\s\"'\\]{1,500})",
        "given",
        (
            "kubectl create secret generic db --from-literal=password=<pw>",
            "kubectl create secret generic db --from-literal 'pin=<pw>' -n x",
        ),
        ("kubectl create secret generic db --from-literal=password=$PASS",),
        kind="secret",
    ),
    CommandRule(
        "gh glab",
        r"\bsecret[ ]set[ ](?:[^\r\n]{0,80}?[ ])?(?:-b|--body)[ =]?<value>",
        "in_command",
        ("gh secret set DEPLOY --body '<pw>'", "gh secret set DEPLOY -b <pw>"),
        ("gh secret set DEPLOY -b $PASS", "gh pr create --body text"),
        kind="secret",
    ),
)  # fmt: skip
