import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type Docker from 'dockerode'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { connectEngine } from '../../src/engine/connect-engine.ts'
import { findProgram } from '../../src/host/find-program.ts'

export interface SecondEngine extends AsyncDisposable {
  readonly address: string
  readonly docker: Docker
  /** Ends the engine, and starts it again with its files. */
  restart(): Promise<void>
  /** Kills the engine; `restart` starts it again. Only in namespaces of processes of its own (`inOwnNamespaces`): the processes of its containers go on. */
  kill(): Promise<void>
}

const START_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 20_000

/** Why this machine cannot run a second engine; undefined where it can. */
export function secondEngineIsAbsent(): string | undefined {
  if (process.getuid?.() !== 0) return 'absent here: a second dockerd needs root'
  const missing = ['dockerd', 'unshare'].filter((program) => findProgram(program) === undefined)
  if (missing.length > 0) return `absent here: ${missing.join(' and ')} for a second engine`
  const { status } = spawnSync(findProgram('unshare') ?? '', ['--net', 'true'])
  return status === 0 ? undefined : 'absent here: network namespaces, which a second dockerd needs'
}

/**
 * Starts a second dockerd with its own files, in its own network namespace: without a bridge and without rules it does not change the
 * network of the first one. It shares the host's containerd, with its own namespaces. `more` are further arguments.
 *
 * @param diskMib - size of the disk of its files; a restart empties it. Default: that of the host
 */
export async function startSecondEngine(more: readonly string[] = [], diskMib?: number): Promise<SecondEngine> {
  const folder = await mkdtemp(join(tmpdir(), 'sandyard-engine-'))
  const address = `unix://${folder}/docker.sock`
  const name = folder.split('-').at(-1) ?? ''
  // Not the configuration of the first engine.
  await writeFile(join(folder, 'daemon.json'), '{}')
  const place = `--config-file ${folder}/daemon.json --data-root ${folder}/data --exec-root ${folder}/exec --pidfile ${folder}/pid --host ${address}`
  const apart = '--bridge=none --iptables=false --ip6tables=false --ip-forward=false --storage-driver=vfs'
  const containerd = `--containerd-namespace sandyard-${name} --containerd-plugins-namespace sandyard-plugins-${name}`
  // Its mounts end with it: an engine does not always unmount its data root, and then the folder could not be removed.
  const data = `${folder}/data`
  await mkdir(data)
  const disk = diskMib === undefined ? [] : ['sh', '-c', `mount -t tmpfs -o size=${diskMib}m tmpfs ${data} && exec "$@"`, 'sh']
  const dockerd = [...disk, findProgram('dockerd') ?? 'dockerd']
  const args = ['--net', '--mount', ...dockerd, ...`${place} ${apart} ${containerd}`.split(' '), ...more]
  const file = join(folder, 'log')
  let engine = spawnEngine(args, file)
  const stop = async (): Promise<void> => {
    await engine.stop()
    await rm(folder, { recursive: true, force: true })
  }
  const untilUp = (): Promise<Docker> =>
    pollUntil({ what: 'a second engine', timeoutMs: START_TIMEOUT_MS, everyMs: 100 }, () => {
      if (engine.hasEnded()) throw new Error(`a second engine ended: ${readFileSync(file, 'utf8').slice(-2000)}`)
      return connectEngine(address).catch(() => undefined)
    })
  const restart = async (): Promise<void> => {
    await engine.stop()
    // An engine refuses to start while any process has the number that a killed one has left, and takes one for its containerd.
    await containerdEnded(join(folder, 'exec/containerd/containerd.pid'))
    await rm(join(folder, 'pid'), { force: true })
    engine = spawnEngine(args, file)
    await untilUp()
  }
  try {
    return { address, docker: await untilUp(), restart, kill: () => engine.kill(), [Symbol.asyncDispose]: stop }
  } catch (err) {
    await stop()
    throw err
  }
}

/** The kernel ends the containerd of an engine that was killed, a moment later. */
async function containerdEnded(pidFile: string): Promise<void> {
  const pid = await readFile(pidFile, 'utf8').catch(() => undefined)
  if (pid === undefined) return
  await pollUntil({ what: 'the end of containerd', timeoutMs: STOP_TIMEOUT_MS, everyMs: 20 }, async () => {
    const stat = await readFile(`/proc/${pid.trim()}/stat`, 'utf8').catch(() => '')
    return !stat.includes('(containerd)') || stat.includes(') Z ') ? true : undefined
  })
  await rm(pidFile, { force: true })
}

interface EngineProcess {
  hasEnded(): boolean
  stop(): Promise<void>
  kill(): Promise<void>
}

function spawnEngine(args: readonly string[], logFile: string): EngineProcess {
  const log = openSync(logFile, 'w')
  const child = spawn(findProgram('unshare') ?? 'unshare', args, { stdio: ['ignore', log, log] })
  closeSync(log)
  const ended = once(child, 'exit')
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
    await ended
    clearTimeout(timer)
  }
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  return { hasEnded: () => child.exitCode !== null || child.signalCode !== null, stop, kill }
}
