"""Native files of claude-harness in spellings that language models and older versions produce.

Each case has the path of its file, its text, and words that leftoff must show after an import.
"""

from typing import NamedTuple

PROGRESS = "claude-progress.json"
CONTEXT = "sessions/s-1/working-context.json"
ACTIVE = "features/active.json"
ARCHIVE = "features/archive.json"
DECISIONS = "memory/episodic/decisions.json"
FAILURES = "memory/procedural/failures.json"
SUCCESSES = "memory/procedural/successes.json"
PATTERNS = "memory/procedural/patterns.json"
RULES = "memory/learned/rules.json"
ENTITIES = "memory/semantic/entities.json"
ARCHITECTURE = "memory/semantic/architecture.json"
CONSTRAINTS = "memory/semantic/constraints.json"
AGENTS = "agents/context.json"
LOOP = "sessions/s-1/loop-state.json"


class Case(NamedTuple):
    """A native file, and what it says."""

    path: str
    text: str
    shown: tuple[str, ...]


CASES: dict[str, Case] = {
    # Progress
    "progress": Case(
        PROGRESS,
        '{"lastUpdated": "2026-11-15T18:40:00Z", "currentProject": "shop", "lastSession": {'
        '"summary": "Exported orders", "completedTasks": ["Wrote export.py"], "blockers": [],'
        '"nextSteps": ["Test 0 orders"]}, "recentChanges": [{"file": "export.py", "kind": "new"}],'
        '"knownIssues": ["slow"], "environmentState": {"devServerRunning": false}}',
        ("Exported orders", "Wrote export.py", "Test 0 orders"),
    ),
    "progress beside its key": Case(
        PROGRESS,
        '{"lastUpdated": "2026-11-15T18:40:00Z", "summary": "Exported orders",'
        '"blockers": "Staging is down", "nextSteps": ["Test 0 orders", "Write docs"]}',
        ("Exported orders", "Staging is down", "Test 0 orders", "Write docs"),
    ),
    "progress in snake case": Case(
        PROGRESS,
        '{"last_updated": "2026-11-15T18:40:00Z", "last_session": {"summary": "Exported orders",'
        '"completed_tasks": ["Wrote export.py"], "next_steps": ["Test 0 orders"]}}',
        ("Exported orders", "Wrote export.py", "Test 0 orders"),
    ),
    "progress with objects": Case(
        PROGRESS,
        '{"lastSession": {"summary": "Exported orders", "completedTasks": [{"task": "Wrote it",'
        '"files": ["export.py"], "minutes": 30}], "nextSteps": [{"step": "Test 0 orders",'
        '"priority": "high"}], "blockers": [{"description": "Staging is down", "since": 3}]}}',
        ("Wrote it", "Test 0 orders", "Staging is down"),
    ),
    "progress of a sentence": Case(
        PROGRESS,
        '{"lastUpdated": "2026-11-15", "lastSession": "Exported orders as CSV"}',
        ("Exported orders as CSV",),
    ),
    "progress with bullets in a text": Case(
        PROGRESS,
        '{"lastSession": {"summary": "Exported orders",'
        '"nextSteps": "- Test 0 orders\\n- Write docs\\n1. Ship it"}}',
        ("Test 0 orders", "Write docs", "Ship it"),
    ),
    "progress with comments and trailing commas": Case(
        PROGRESS,
        '{\n  // written by hand\n  "lastSession": {\n    "summary": "Exported orders",\n'
        '    "nextSteps": ["Test 0 orders",], /* the first one matters */\n  },\n}\n',
        ("Exported orders", "Test 0 orders"),
    ),
    "progress in a code fence": Case(
        PROGRESS,
        '```json\n{"lastSession": {"summary": "Exported orders", "nextSteps": ["Test"]}}\n```\n',
        ("Exported orders",),
    ),
    "progress with line ends of Windows": Case(
        PROGRESS,
        '\ufeff{\r\n  "lastSession": {\r\n    "summary": "Exported orders"\r\n  }\r\n}\r\n',
        ("Exported orders",),
    ),
    "progress in Chinese": Case(
        PROGRESS,
        '{"lastSession": {"summary": "导出订单为 CSV", "nextSteps": ["测试零订单"],'
        '"备注": "用户要西班牙语"}}',
        ("导出订单为 CSV", "测试零订单"),
    ),
    "progress with wrong types": Case(
        PROGRESS,
        '{"lastSession": {"summary": ["Exported", "orders"], "completedTasks": null,'
        '"blockers": {"db": "Staging is down"}, "nextSteps": 7}, "compactionCount": "2"}',
        ("Exported; orders", "db: Staging is down"),
    ),
    # Working contexts
    "context of the example": Case(
        CONTEXT,
        '{"version": 1, "lastUpdated": "2025-12-29T16:00:00.000Z", "activeFeature": "feature-003",'
        '"summary": "Add Google OAuth login", "workingFiles": {"src/auth/google.ts":'
        '"new - OAuth provider implementation"}, "decisions": ["Store tokens in DB, not cookies"],'
        '"codebaseUnderstanding": {"authSystem": "Uses provider registry pattern"},'
        '"nextSteps": ["Add error handling for token revocation", "Test OAuth callback flow"]}',
        ("Add Google OAuth login", "src/auth/google.ts", "Store tokens in DB, not cookies",
         "authSystem: Uses provider registry pattern", "Test OAuth callback flow"),
    ),
    "context with a list of files": Case(
        CONTEXT,
        '{"summary": "Export", "workingFiles": ["src/a.ts", "src/b.ts - the writer",'
        '{"path": "src/c.ts", "role": "modified", "lines": 40}]}',
        ("src/a.ts", "the writer", "src/c.ts"),
    ),
    "context with objects for roles": Case(
        CONTEXT,
        '{"summary": "Export", "workingFiles": {"src/a.ts": {"status": "new",'
        '"description": "streaming writer"}, "src/b.ts": null}}',
        ("streaming writer", "src/b.ts"),
    ),
    "context with nested understanding": Case(
        CONTEXT,
        '{"summary": "Export", "codebaseUnderstanding": {"auth": {"registry": "providers.ts",'
        '"guards": ["withAuth()", "withRole()"]}, "db": "Prisma; migrations run in CI"}}',
        ("withAuth()", "migrations run in CI"),
    ),
    "context with a sentence of understanding": Case(
        CONTEXT,
        '{"summary": "Export", "codebaseUnderstanding": "Routes register through createRoute()."}',
        ("Routes register through createRoute().",),
    ),
    "context with a list of understanding": Case(
        CONTEXT,
        '{"summary": "Export", "codebaseUnderstanding": ["Routes: createRoute()", "DB: Prisma"]}',
        ("Routes: createRoute()", "DB: Prisma"),
    ),
    "context with whole decisions": Case(
        CONTEXT,
        '{"summary": "Export", "decisions": [{"decision": "Stream rows", "rationale": "size",'
        '"alternatives": ["temp file"], "impact": "export.ts"}, "Use CSV"]}',
        ("Stream rows", "size", "temp file", "export.ts", "Use CSV"),
    ),
    "context with keys of its own": Case(
        CONTEXT,
        '{"version": 2, "summary": "Export", "next_steps": ["Test"], "mood": "good",'
        '"openQuestions": ["CSV or TSV?"], "testStatus": {"passed": 12, "failed": 0}}',
        ("Export", "Test"),
    ),
    # Features
    "features of version 3": Case(
        ACTIVE,
        '{"version": 3, "features": [{"id": "feature-007", "name": "Export orders",'
        '"description": "CSV", "priority": 1, "status": "in_progress", "phase": "implementation",'
        '"verification": {"build": "npm run build"}, "attempts": 2, "maxAttempts": 15,'
        '"acceptanceCriteria": [{"scenario": "None", "given": "0", "when": "go", "then": "ok"}],'
        '"relatedFiles": ["src/export.ts"], "github": {"issueNumber": 3, "prNumber": null,'
        '"branch": "feature/feature-007"}, "createdAt": "2026-11-01T00:00:00Z"}], "fixes": []}',
        ("feature-007", "Export orders", "src/export.ts"),
    ),
    "features by id": Case(
        ACTIVE,
        '{"features": {"feature-001": {"name": "Export orders", "owner": "ada"},'
        '"feature-002": {"name": "Login"}}}',
        ("Export orders", "Login"),
    ),
    "features in a bare list": Case(
        ACTIVE,
        '[{"id": "feature-001", "name": "Export orders", "passes": false}]',
        ("Export orders",),
    ),
    "features that are names": Case(
        ACTIVE, '{"version": 3, "features": ["Export orders", "Login"]}', ("Export orders", "Login")
    ),
    "features without ids": Case(
        ACTIVE,
        '{"features": [{"name": "Export orders"}, {"title": "Login", "estimate": "3d"}]}',
        ("Export orders", "Login"),
    ),
    "features with numbers as texts": Case(
        ACTIVE,
        '{"features": [{"id": "feature-001", "name": "Export", "attempts": "2",'
        '"github": {"issueNumber": "#12"}, "passes": "false", "status": "In Progress"}]}',
        ("Export", "in_progress"),
    ),
    "features with sentences as criteria": Case(
        ACTIVE,
        '{"features": [{"id": "feature-001", "name": "Export", "acceptanceCriteria":'
        '["Only the header for 0 orders", "Quotes commas"], "relatedFiles": "src/export.ts"}]}',
        ("Only the header for 0 orders", "src/export.ts"),
    ),
    "features in German": Case(
        ACTIVE,
        '{"features": [{"id": "feature-001", "name": "Bestellungen exportieren",'
        '"description": "Für Größe „XL“", "status": "pending", "zuständig": "Jörg"}]}',
        ("Bestellungen exportieren", "Für Größe"),
    ),
    "fixes": Case(
        ACTIVE,
        '{"features": [], "fixes": [{"id": "fix-feature-003-1", "name": "Totals",'
        '"linkedTo": {"featureId": "feature-003", "featureName": "Cart", "issueNumber": 8},'
        '"type": "bugfix", "severity": "high"}, {"id": "fix-feature-003-2", "name": "Tabs",'
        '"linkedTo": "feature-003"}]}',
        ("Totals", "Tabs", "feature-003"),
    ),
    "archive": Case(
        ARCHIVE,
        '{"version": 3, "archived": [{"id": "feature-001", "name": "Login",'
        '"archivedAt": "2026-10-01T00:00:00Z", "lessons": ["small steps"]}], "archivedFixes": []}',
        ("Login",),
    ),
    # Memory
    "decisions": Case(
        DECISIONS,
        '{"version": 3, "maxEntries": 50, "entries": [{"id": "9c1e", "feature": "feature-007",'
        '"timestamp": "2026-11-15T18:40:00Z", "decision": "Stream CSV", "rationale": "size",'
        '"alternatives": ["temp file"], "impact": "src/export.ts", "author": "ada"}]}',
        ("Stream CSV", "size", "temp file", "src/export.ts"),
    ),
    "decisions as sentences": Case(
        DECISIONS, '{"entries": ["Stream CSV", "Use Prisma"]}', ("Stream CSV", "Use Prisma")
    ),
    "decisions in a bare list": Case(
        DECISIONS,
        '[{"decision": "Stream CSV", "rationale": "size", "impact": ["a.ts", "b.ts"]}]',
        ("Stream CSV",),
    ),
    "decisions under another key": Case(
        DECISIONS,
        '{"version": 3, "decisions": [{"id": 4, "title": "Stream CSV",'
        '"alternatives": "temp file"}]}',
        ("Stream CSV",),
    ),
    "decisions by id": Case(
        DECISIONS,
        '{"entries": {"d-1": {"decision": "Stream CSV"}, "d-2": {"decision": "Use Prisma"}}}',
        ("Stream CSV", "Use Prisma"),
    ),
    "failures": Case(
        FAILURES,
        '{"version": 3, "entries": [{"id": "fail-20261115-001", "feature": "feature-007",'
        '"type": "feature", "approach": "JSON.stringify whole list", "agent": "coder",'
        '"errors": ["heap OOM"], "rootCause": "unbounded array", "prevention": "stream",'
        '"files": ["src/export.ts"], "attempt": 3}, {"approach": "Buffer", "errors": "OOM"}]}',
        ("JSON.stringify whole list", "unbounded array", "Buffer"),
    ),
    "successes": Case(
        SUCCESSES,
        '{"entries": [{"id": "suc-1", "approach": "Stream rows", "lessons": ["small buffers"],'
        '"verificationResults": {"tests": "12 passed"}, "patterns": ["streams"]}]}',
        ("Stream rows", "small buffers"),
    ),
    "patterns": Case(
        PATTERNS,
        '{"version": 3, "patterns": {"codePatterns": ["Pass clocks in", {"name": "Repository",'
        '"description": "One per table"}], "namingConventions": {"tests": "*.test.ts"},'
        '"projectSpecificRules": ["No default exports"], "apiPatterns": ["REST only"]}}',
        ("Pass clocks in", "One per table", "tests: *.test.ts", "REST only"),
    ),
    "patterns in a list": Case(
        PATTERNS, '{"patterns": ["Pass clocks in", "No globals"]}', ("Pass clocks in", "No globals")
    ),
    "rules": Case(
        RULES,
        '{"version": 3, "metadata": {"totalRules": 2}, "rules": [{"id": "rule-001",'
        '"title": "Absolute imports", "description": "use @/ for src", "category": "style",'
        '"scope": "project", "confidence": "high", "active": true, "usageCount": 3,'
        '"examples": {"correct": ["@/a"], "incorrect": ["../a"]}, "tags": ["ts"]},'
        '{"id": "rule-002", "title": "Old", "description": "was wrong", "active": false}]}',
        ("use @/ for src", "was wrong"),
    ),
    "rules as sentences": Case(
        RULES, '{"rules": ["Use pnpm", {"rule": "Never log tokens"}]}', ("pnpm", "log tokens")
    ),
    "entities": Case(
        ENTITIES,
        '{"entities": [{"name": "Invoice", "type": "model", "location": "src/invoice.ts",'
        '"relationships": ["Order", {"to": "Customer", "kind": "belongs"}], "fields": 12},'
        '"Order"]}',
        ("Invoice", "model", "Order"),
    ),
    "architecture": Case(
        ARCHITECTURE,
        '{"version": 3, "projectType": "nextjs", "techStack": {"framework": "next",'
        '"tools": ["eslint", "vitest"]}, "structure": {"entryPoints": ["src/main.ts"],'
        '"services": ["src/mail.ts"], "api": {"orders": "src/api/orders.ts"}},'
        '"patterns": {"naming": {"files": "kebab-case"}, "errors": "Result types"},'
        '"discoveredAt": "2026-01-01", "layers": 3}',
        ("nextjs", "src/main.ts", "src/mail.ts", "files: kebab-case", "Result types"),
    ),
    "constraints": Case(
        CONSTRAINTS,
        '{"constraints": ["Node 20 only", {"rule": "512 MB", "why": "worker"}], "rules": []}',
        ("Node 20 only", "512 MB"),
    ),
    # Agents and loops
    "agents": Case(
        AGENTS,
        '{"version": 3, "currentSession": {"id": "orc-1"}, "agentResults": [{"agent": "coder",'
        '"status": "success", "summary": "Streamed", "files": "a.ts", "tokens": 900},'
        '{"name": "tester", "status": "running"}], "sharedState": {"discoveredPatterns":'
        '{"db": ["one pool", "no ORM"]}}, "architecturalDecisions": ["One clock"]}',
        ("Streamed", "coder", "db: one pool, no ORM", "One clock"),
    ),
    "loop": Case(
        LOOP,
        '{"version": 9, "feature": "feature-007", "featureName": "Export", "type": "feature",'
        '"status": "in-progress", "attempt": "3", "tddPhase": "implement", "history": [{"attempt":'
        '1, "approach": "Buffer", "result": "failed", "errors": "OOM", "tokens": 5}, "Stream"],'
        '"tasks": {"enabled": true, "chain": [{"id": 1, "name": "Test"}], "current": null,'
        '"completed": []}, "notes": "careful"}',
        ("feature-007", "Buffer", "Stream"),
    ),
}  # fmt: skip
