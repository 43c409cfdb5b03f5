from cli.runs import Cli


def test_the_schema_allows_and_describes_what_is_saved(cli: Cli) -> None:
    schema = cli.ok("schema").json
    cli.ok("save", "login-form", "--summary=Some work", "--next=Run make")
    shown = cli.json("show", "login-form")

    assert schema == cli.json("schema")
    described = schema["$defs"]["Checkpoint"]["properties"]
    assert {*shown} - {"state", "path", "snapshot"} <= {*described}
    assert schema["$defs"]["Checkpoint"]["required"] == ["schema", "id", "saved_at", "trigger"]
    assert "__extra__" not in str(schema)
