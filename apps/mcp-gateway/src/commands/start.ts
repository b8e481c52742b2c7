import { spawn } from 'node:child_process'
import { mkdir, open, readFile } from 'node:fs/promises'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { toServers } from '../catalog/to-servers.ts'
import type { GatewayConfig } from '../config.ts'
import { filesOf, readPid, writeSecret } from './files.ts'
import type { StartReport } from './serve.ts'

const STOP_TIMEOUT_MS = 5000
/** Clients wait a minute for the command, and the former gateway may take a part of it. */
const START_TIMEOUT_MS = 50_000

interface StartOptions {
  readonly config: GatewayConfig
  readonly json: string
  readonly environment: NodeJS.ProcessEnv
}

/** Starts the gateway in the background, in the place of one that runs. Resolves when it serves. @throws Error with a sentence */
export async function start({ config, json, environment }: StartOptions): Promise<void> {
  const { GATEWAY_ACCESS_TOKEN: token = '', ...passed } = environment
  if (token === '') throw new Error('GATEWAY_ACCESS_TOKEN is not set: the gateway serves nobody without a token')
  toServers(json)
  const files = filesOf(config.directory)
  await mkdir(config.directory, { recursive: true })
  await stopFormer(files.pid)
  await writeSecret(files.token, token)
  await writeSecret(files.config, json)
  await using log = await open(files.log, 'w', 0o600)
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? '', 'serve'], {
    // A group of its own, which its servers and their installations belong to.
    detached: true,
    env: passed,
    stdio: ['ignore', log.fd, log.fd, 'ipc'],
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const late = setTimeout(() => reject(new Error(`the gateway did not serve within ${START_TIMEOUT_MS / 1000} s`)), START_TIMEOUT_MS)
  child.on('error', reject)
  child.on('message', (report: StartReport) => (report.kind === 'serving' ? resolve() : reject(new Error(report.message))))
  child.on('exit', (code, signal) => reject(new Error(`the gateway ended with ${signal ?? code} before it served (${files.log})`)))
  try {
    await promise
  } catch (err) {
    if (child.pid !== undefined) endGroup(child.pid)
    throw err
  } finally {
    clearTimeout(late)
    if (child.connected) child.disconnect()
    child.unref()
  }
}

async function stopFormer(pidFile: string): Promise<void> {
  const pid = await readPid(pidFile)
  if (pid === undefined || !(await isGateway(pid))) return
  process.kill(pid, 'SIGTERM')
  const options = { what: 'the end of the former gateway', timeoutMs: STOP_TIMEOUT_MS, everyMs: 50 }
  await pollUntil(options, async () => ((await isGateway(pid)) ? undefined : true)).catch(() => undefined)
  // An installation that went on would write into the folders of the next gateway.
  endGroup(pid)
  await pollUntil(options, async () => ((await isGateway(pid)) ? undefined : true))
}

function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    // Nothing of it is left.
  }
}

/** Whether the process is a gateway, and not another one that has got its number. */
async function isGateway(pid: number): Promise<boolean> {
  const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0')
  // The last word is followed by a zero byte.
  return words.at(-3) === process.argv[1] && words.at(-2) === 'serve'
}
