// written by nod: passes opencode's permissions and questions on to nod, and nod's answers back. opencode's
// own prompt stays open beside nod's window; the first answer counts. To remove it: nod agents uninstall opencode
import { spawn } from "node:child_process"

const NOD = "NOD"
const EVENTS = new Set([
  "permission.asked", "permission.replied",
  "question.asked", "question.replied", "question.rejected", "session.idle",
])

// ask runs nod's hook and returns its reply. No reply, or none that can be read, is no decision.
function ask(payload) {
  return new Promise((resolve) => {
    const hook = spawn(NOD, ["hook", "opencode"], { cwd: payload.cwd, stdio: ["pipe", "pipe", "ignore"] })
    let out = ""
    hook.on("error", () => resolve(undefined))
    hook.stdin.on("error", () => {})
    hook.stdout.on("data", (chunk) => { out += chunk })
    hook.on("close", (status) => {
      try {
        resolve(status === 0 && out ? JSON.parse(out) : undefined)
      } catch {
        resolve(undefined)
      }
    })
    hook.stdin.end(JSON.stringify(payload))
  })
}

export const Nod = async ({ client, serverUrl, directory, worktree }) => {
  // The tool calls under way. A permission says which call wants it, and little of what the call does. Of two calls
  // with one id nobody knows which it is.
  const calls = new Map()
  const key = (session, call) => `${session} ${call}`
  const post = (path, body) => {
    const request = { url: path, body, headers: { "Content-Type": "application/json" } }
    return client?._client?.post ? client._client.post(request) : fetch(new URL(path, serverUrl), {
      method: "POST", headers: request.headers, body: JSON.stringify(body),
    })
  }
  const answer = async (event) => {
    const { sessionID, tool } = event.properties
    const call = calls.get(key(sessionID, tool?.callID))
    const reply = await ask({ ...event, cwd: directory, worktree, call })
    if (!reply) return
    const id = encodeURIComponent(event.properties.id)
    if (event.type === "permission.asked") await post(`/permission/${id}/reply`, reply)
    if (event.type === "question.asked") await post(`/question/${id}/reply`, reply)
  }
  return {
    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      const id = key(sessionID, callID)
      calls.set(id, calls.has(id) ? undefined : { tool, args })
    },
    "tool.execute.after": async ({ sessionID, callID }) => {
      calls.delete(key(sessionID, callID))
    },
    event: async ({ event }) => {
      if (event.type === "session.idle") {
        for (const id of calls.keys()) if (id.startsWith(key(event.properties.sessionID, ""))) calls.delete(id)
      }
      // Not awaited: opencode goes on, and shows its own prompt, while the human thinks.
      if (EVENTS.has(event.type)) answer(event).catch(() => {})
    },
  }
}
