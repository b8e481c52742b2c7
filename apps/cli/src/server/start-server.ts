import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { DataDirectory } from '@sandyard/api/program/data/data-directory'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import type { CliParts } from '../cli-parts.ts'
import type { ClientSettings } from '../env-lines.ts'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'
import { CHECKOUT } from './running-server.ts'

const EVERY_MS = 100
const READY_TIMEOUT_MS = 60_000
const TAIL_CHARS = 2000
const NAMES = ['E2B_API_KEY', 'E2B_API_URL', 'E2B_SANDBOX_URL', 'E2B_VOLUME_API_URL'] as const

/**
 * Starts `npm start` in a session of its own and returns when it is ready. Its steps are shown while it starts; its output has the key, so
 * it is not kept. What it writes to stderr is kept in `up.log` of the data directory.
 *
 * @throws CliFailure `failed` when it ends, `timeout` when it is not ready in time; then it is ended. The abort reason, likewise
 */
export async function startServer(parts: CliParts, directory: DataDirectory, timeoutMs: number): Promise<ClientSettings> {
  const { environment, output, signal } = parts
  mkdirSync(directory.path, { recursive: true, mode: 0o700 })
  const logFile = join(directory.path, 'up.log')
  const from = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0
  const log = openSync(logFile, 'a', 0o600)
  const child = spawn('sh', [join(CHECKOUT, 'tools/run'), 'start'], {
    cwd: CHECKOUT,
    env: { ...environment, SANDYARD_DATA_DIR: directory.path, SANDYARD_LOG: 'file' },
    detached: true,
    stdio: ['ignore', 'pipe', log],
  })
  closeSync(log)
  const printed = collect(child, (line) => output.say(line))
  try {
    const settings = await pollUntil({ what: 'the server', timeoutMs, everyMs: EVERY_MS, signal }, () => {
      if (child.exitCode !== null || child.signalCode !== null) throw ended(readFileSync(logFile, 'utf8').slice(from))
      return readSettings(printed())
    })
    await pollUntil({ what: 'the server to be ready', timeoutMs: READY_TIMEOUT_MS, everyMs: EVERY_MS, signal }, async () => {
      const answer = await fetch(`${settings.E2B_API_URL}/ready`, {
        signal: AbortSignal.any([signal, AbortSignal.timeout(READY_TIMEOUT_MS)]),
      })
      return answer.ok ? true : undefined
    })
    child.stdout?.destroy()
    child.unref()
    return settings
  } catch (err) {
    child.kill('SIGTERM')
    throw err
  }
}

/** Shows the steps, and nothing after the line that says that it is ready: there the key follows. */
function collect({ stdout }: ChildProcess, show: (line: string) => void): () => string {
  let text = ''
  let shown = 0
  stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    const ready = text.indexOf('\nSandyard is ready.')
    const end = ready === -1 ? text.lastIndexOf('\n') : ready
    if (end <= shown) return
    show(text.slice(shown, end))
    shown = ready === -1 ? end + 1 : Number.POSITIVE_INFINITY
  })
  return () => text
}

function readSettings(text: string): ClientSettings | undefined {
  const found = NAMES.map((name) => [name, new RegExp(`^\\s*export ${name}=(\\S+)$`, 'm').exec(text)?.[1]] as const)
  return found.every(([, value]) => value !== undefined) ? (Object.fromEntries(found) as unknown as ClientSettings) : undefined
}

function ended(said: string): CliFailure {
  const text = said
    .trim()
    .slice(-TAIL_CHARS)
    .replace(/^.*sandyard: /s, '')
  return new CliFailure(EXIT.failed, text === '' ? 'The server ended before it was ready.' : text)
}
