// leftoff's plugin for opencode. `leftoff init` writes this file and `leftoff uninstall` removes it.
// It passes events to leftoff's hook program, as other agents do, and adds the replies:
// {"context": text for the model, "notice": text for the user}, or {"block": reason}. If anything
// fails, opencode goes on as usual.
import { spawn, spawnSync } from "node:child_process"
import { homedir } from "node:os"
import { join, resolve } from "node:path"

const HOOK = "@HOOK@"
const DATA = join(process.env.XDG_DATA_HOME || join(homedir(), ".local", "share"), "opencode")
// One database holds all sessions.
const DATABASE = resolve(DATA, process.env.OPENCODE_DB || "opencode.db")

const NOTICE_MILLISECONDS = 15000
// Twice: on a busy machine, opencode's own notice may come after the first.
const AFTER_ERROR_MILLISECONDS = [1000, 5000]

// A shorter wait, in seconds, is for a server that is busy.
const LONG_WAIT = 60

// Runs the hook program and returns its reply. It must not see Ctrl-C, so it gets a group of its own.
const ask = (event, payload, cwd, milliseconds = 5000) =>
  new Promise((resolve) => {
    let out = ""
    let child
    const finish = () => {
      clearTimeout(timer)
      try {
        resolve(out.trim() ? JSON.parse(out) : {})
      } catch {
        resolve({})
      }
    }
    const timer = setTimeout(() => {
      child?.kill("SIGKILL")
      finish()
    }, milliseconds)
    try {
      child = spawn(HOOK, ["opencode", event], { cwd, stdio: ["pipe", "pipe", "ignore"], detached: true })
      child.on("error", finish)
      child.on("close", finish)
      child.stdout.on("data", (data) => (out += data))
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(payload))
    } catch {
      finish()
    }
  })

const newPartId = () => `prt_${Date.now().toString(16)}${Math.random().toString(16).slice(2, 12)}`

export const Leftoff = async ({ client, directory }) => {
  const loadedAt = Date.now()
  const windows = new Map()
  const started = new Set()
  const ended = new Set()
  const helpers = new Set()

  const describe = (id, event, more = {}) => ({
    session_id: id,
    hook_event_name: event,
    cwd: directory,
    pid: process.pid,
    ...more,
  })

  // A new session has nothing in the database yet, and no request has named the model's window.
  const recount = (id, event, more = {}) =>
    describe(id, event, { transcript_path: DATABASE, context_window: windows.get(id), ...more })

  // Says how a session starts, or that it is a sub-agent's, which belongs to the one that started it.
  const recognise = async (id) => {
    try {
      const { data } = await client.session.get({ path: { id } })
      if (data?.parentID) return "helper"
      return data?.time?.created < loadedAt ? "resume" : "startup"
    } catch {
      return "startup"
    }
  }

  // The full-screen program shows it for a while; `opencode run` does not.
  const show = async (message, variant) => {
    try {
      await client.tui.showToast({ body: { message, variant, duration: NOTICE_MILLISECONDS } })
    } catch {}
  }

  const endAll = (reason) => {
    for (const id of started) {
      const input = JSON.stringify(recount(id, "SessionEnd", { reason }))
      spawnSync(HOOK, ["opencode", "SessionEnd"], { cwd: directory, input, timeout: 5000 })
      ended.add(id)
    }
    started.clear()
  }

  // `opencode run` runs plugins in its main thread and does not call `dispose` when a signal ends it.
  // A handler keeps the process alive, so the signal is sent again. The full-screen program runs
  // plugins in a worker and does call `dispose`.
  if (typeof Bun !== "undefined" && Bun.isMainThread) {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
      process.once(signal, () => {
        endAll(signal)
        process.kill(process.pid, signal)
      })
    }
  }

  return {
    "chat.message": async (input, output) => {
      const id = input.sessionID
      if (helpers.has(id)) return
      const add = (text) =>
        output.parts.push({
          id: newPartId(),
          sessionID: id,
          messageID: output.message.id,
          type: "text",
          text,
          synthetic: true,
        })
      if (!started.has(id)) {
        const source = await recognise(id)
        if (source === "helper") return void helpers.add(id)
        started.add(id)
        ended.delete(id)
        const start = describe(id, "SessionStart", { source })
        const reply = await ask("SessionStart", start, directory, 15000)
        if (reply.context) add(reply.context)
        if (reply.notice) void show(reply.notice, "info")
      }
      const typed = output.parts.filter((part) => part.type === "text" && !part.synthetic)
      const prompt = typed.map((part) => part.text).join("\n")
      const reply = await ask("UserPromptSubmit", recount(id, "UserPromptSubmit", { prompt }), directory)
      // opencode keeps the prompt nowhere; leftoff does. For the error, opencode shows a notice that
      // says only "Unexpected server error", and the one after it replaces it.
      if (reply.block) {
        for (const later of AFTER_ERROR_MILLISECONDS)
          setTimeout(() => void show(reply.block, "warning"), later)
        throw new Error(reply.block)
      }
      if (reply.context) add(reply.context)
      if (reply.notice) void show(reply.notice, "info")
    },
    "chat.params": async (input) => {
      windows.set(input.sessionID, input.model?.limit?.context)
    },
    "shell.env": async (input, output) => {
      if (input.sessionID) output.env.OPENCODE_SESSION_ID = input.sessionID
    },
    "tool.execute.before": async (input, output) => {
      if (input.tool !== "bash") return
      if (!started.has(input.sessionID)) return
      const call = { tool_name: "bash", tool_input: { command: output.args?.command } }
      const reply = await ask("PreToolUse", recount(input.sessionID, "PreToolUse", call), directory)
      // opencode gives the reason to the model as the result of the call.
      if (reply.block) throw new Error(reply.block)
    },
    "experimental.session.compacting": async (input) => {
      // The next prompt brings the state back: opencode reports no start after a compaction.
      const id = input.sessionID
      if (started.has(id)) await ask("PreCompact", recount(id, "PreCompact"), directory, 10000)
    },
    event: async ({ event }) => {
      const id = event.properties?.sessionID
      // After an interrupted end, a new instance of the plugin gets one more `session.idle`.
      if (!id || ended.has(id) || !started.has(id)) return
      if (event.type === "session.idle") await ask("Stop", recount(id, "Stop"), directory)
      if (event.type === "session.error") {
        const { name: error, data } = event.properties.error ?? {}
        const failure = { error, error_details: data?.message }
        await ask("StopFailure", recount(id, "StopFailure", failure), directory)
      }
      // At a usage limit, opencode waits until that resets, which few users do. It stores nothing then.
      const { type, message, next } = event.properties.status ?? {}
      const seconds = Math.round((next - Date.now()) / 1000)
      if (event.type === "session.status" && type === "retry" && seconds > LONG_WAIT) {
        const failure = { error_details: `${message} Try again in ${seconds} seconds` }
        await ask("StopFailure", recount(id, "StopFailure", failure), directory)
      }
    },
    dispose: async () => endAll("dispose"),
  }
}
