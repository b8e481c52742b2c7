import type { ServerInfo } from '@sandyard/dashboard-contract/session'
import type { ActionCode } from '../../parts/action-button.tsx'

type Server = Pick<ServerInfo, 'apiUrl'>

/** A curl command for an operation of the control plane. */
export function curlText(server: Server | undefined, method: string, path: string, body?: object): string {
  const lines = [`curl -X ${method} '${server?.apiUrl ?? '$E2B_API_URL'}${path}'`, `-H "X-API-Key: $E2B_API_KEY"`]
  if (body !== undefined) lines.push(`-H 'Content-Type: application/json'`, `-d ${shellWord(JSON.stringify(body))}`)
  return lines.join(' \\\n  ')
}

/** A word of sh that stands for exactly `text`. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

const imported = (line: string): string => `import { Sandbox } from 'e2b'\n\n${line}`
const pythonImported = (line: string): string => `from e2b import Sandbox\n\n${line}`

export function connectCode(id: string, server: Server | undefined): ActionCode {
  return {
    cli: `sandyard connect ${id}`,
    javascript: imported(`const sandbox = await Sandbox.connect('${id}')`),
    python: pythonImported(`sandbox = Sandbox.connect("${id}")`),
    curl: curlText(server, 'GET', `/sandboxes/${id}`),
  }
}

export function killCode(id: string, server: Server | undefined): ActionCode {
  return {
    cli: `sandyard kill ${id}`,
    javascript: imported(`await Sandbox.kill('${id}')`),
    python: pythonImported(`Sandbox.kill("${id}")`),
    curl: curlText(server, 'DELETE', `/sandboxes/${id}`),
  }
}

export function pauseCode(id: string, server: Server | undefined): ActionCode {
  return {
    cli: `sandyard pause ${id}`,
    javascript: imported(`await Sandbox.pause('${id}')`),
    python: pythonImported(`Sandbox.pause("${id}")`),
    curl: curlText(server, 'POST', `/sandboxes/${id}/pause`, {}),
  }
}

export function resumeCode(id: string, server: Server | undefined): ActionCode {
  return {
    cli: `sandyard resume ${id}`,
    javascript: imported(`const sandbox = await Sandbox.connect('${id}')`),
    python: pythonImported(`sandbox = Sandbox.connect("${id}")`),
    curl: curlText(server, 'POST', `/v2/sandboxes/${id}/connect`, { timeout: 300 }),
  }
}

export function extendCode(id: string, seconds: number, server: Server | undefined): ActionCode {
  return {
    javascript: imported(`await Sandbox.setTimeout('${id}', ${seconds * 1000})`),
    python: pythonImported(`Sandbox.set_timeout("${id}", ${seconds})`),
    curl: curlText(server, 'POST', `/sandboxes/${id}/timeout`, { timeout: seconds }),
  }
}

export function forkCode(id: string, server: Server | undefined): ActionCode {
  return { curl: curlText(server, 'POST', `/sandboxes/${id}/fork`, { count: 1, timeout: 300 }) }
}

export function snapshotCode(id: string, server: Server | undefined): ActionCode {
  return {
    javascript: imported(`const sandbox = await Sandbox.connect('${id}')\nconst snapshot = await sandbox.createSnapshot()`),
    python: pythonImported(`sandbox = Sandbox.connect("${id}")\nsnapshot = sandbox.create_snapshot()`),
    curl: curlText(server, 'POST', `/sandboxes/${id}/snapshots`, {}),
  }
}

/** The timeout, in seconds from now, that adds `seconds` to the end time, at most `most`. */
export function extendedTimeout(endsAt: string | null, seconds: number, most: number, now: number): number {
  const left = endsAt === null ? 0 : Math.max(0, Date.parse(endsAt) - now) / 1000
  return Math.max(1, Math.min(most, Math.ceil(left) + seconds))
}
