import type { ActionCode } from '../../parts/action-code.ts'
import { shellWord } from './sandbox-code.ts'

const connected = (id: string, line: string): string =>
  `import { Sandbox } from 'e2b'\n\nconst sandbox = await Sandbox.connect(${JSON.stringify(id)})\nawait sandbox.${line}`
const pythonConnected = (id: string, line: string): string =>
  `from e2b import Sandbox\n\nsandbox = Sandbox.connect(${JSON.stringify(id)})\nsandbox.${line}`

/**
 * Sends a signal to a process of the sandbox. There is no curl form here: a request to the daemon of a sandbox needs the sandbox's access token, and
 * the server never sends that token to the browser.
 */
export function signalCode(id: string, pid: number, signal: 'HUP' | 'TERM' | 'KILL'): ActionCode {
  const command = `kill -${signal} ${pid}`
  return {
    cli: `sandyard exec -u root ${id} -- ${command}`,
    javascript: connected(id, `commands.run(${JSON.stringify(command)}, { user: 'root' })`),
    python: pythonConnected(id, `commands.run(${JSON.stringify(command)}, user="root")`),
  }
}

export function makeFolderCode(id: string, path: string): ActionCode {
  return filesCode(id, ['mkdir', '-p', path], { javascript: 'makeDir', python: 'make_dir' })
}

export function makeFileCode(id: string, path: string): ActionCode {
  const command = `touch ${shellWord(path)}`
  return {
    cli: `sandyard exec ${id} -- ${command}`,
    javascript: connected(id, `commands.run(${JSON.stringify(command)})`),
    python: pythonConnected(id, `commands.run(${JSON.stringify(command)})`),
  }
}

export function renameCode(id: string, from: string, to: string): ActionCode {
  return filesCode(id, ['mv', from, to], { javascript: 'rename', python: 'rename' })
}

export function removeCode(id: string, path: string): ActionCode {
  return filesCode(id, ['rm', '-r', path], { javascript: 'remove', python: 'remove' })
}

/** `file` and `data` stand for what the reader wants to write. */
export function writeCode(id: string, path: string): ActionCode {
  const text = JSON.stringify(path)
  return {
    cli: `sandyard cp file ${shellWord(`${id}:${path}`)}`,
    javascript: connected(id, `files.write(${text}, data)`),
    python: pythonConnected(id, `files.write(${text}, data)`),
  }
}

/** A shell in a terminal. Without a user or folder it has those of the template. */
export function openShellCode(id: string, { user, cwd }: { readonly user: string; readonly cwd: string }): ActionCode {
  const given = Object.entries({ user, cwd }).filter(([, value]) => value !== '')
  const javascript = given.map(([name, value]) => `, ${name}: ${JSON.stringify(value)}`).join('')
  const python = given.map(([name, value]) => `, ${name}=${JSON.stringify(value)}`).join('')
  return {
    cli: `sandyard connect ${id}`,
    javascript: connected(id, `pty.create({ cols: 80, rows: 24, onData: (data) => process.stdout.write(data)${javascript} })`),
    python: pythonConnected(id, `pty.create(PtySize(rows=24, cols=80)${python})`).replace('import Sandbox', 'import PtySize, Sandbox'),
  }
}

function filesCode(id: string, words: readonly string[], names: { readonly javascript: string; readonly python: string }): ActionCode {
  const paths = words
    .filter((word) => word.startsWith('/'))
    .map((path) => JSON.stringify(path))
    .join(', ')
  return {
    cli: `sandyard exec ${id} -- ${words.map(shellWord).join(' ')}`,
    javascript: connected(id, `files.${names.javascript}(${paths})`),
    python: pythonConnected(id, `files.${names.python}(${paths})`),
  }
}
