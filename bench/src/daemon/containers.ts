import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { getContainer, hasImage, listContainers, removeContainer, startContainer } from '../engine.ts'

/** A label of every container of these benchmarks; its value is the pid of the run that made it. */
const LABEL = 'sandyard.bench-daemon'
const IMAGES = ['debian:bookworm-slim', 'sandyard/base']
const MEMORY_BYTES = 4 * 1024 ** 3
const ADD_ACCOUNT = 'id -u user >/dev/null 2>&1 || useradd -m -s /bin/bash user; exec "$@"'

export interface RunningContainer extends AsyncDisposable {
  readonly id: string
  /** The pid of its first process, on this machine. */
  readonly pid: number
  readonly address: string
  /** Its files as root sees them on this machine. */
  readonly root: string
}

/** The programs in the containers: every container has all of them, so only the command differs. Paths are of this machine. */
export interface Programs {
  readonly image: string
  readonly dist: string
  readonly reference: string | undefined
}

/** @throws Error that says how to get an image */
export async function findImage(): Promise<string> {
  for (const name of IMAGES) if (await hasImage(name)) return name
  throw new Error(`the engine on this machine has none of the images ${IMAGES.join(', ')}: run \`npm start\` once, or pull the first.`)
}

/** A container with an account `user` that runs `command` as root; all have the same limits. */
export async function runContainer({ image, dist, reference }: Programs, command: readonly string[]): Promise<RunningContainer> {
  const binds = [`${dist}:/opt/sandyard:ro`, `${join(import.meta.dirname, '..')}:/bench:ro`]
  if (reference !== undefined) binds.push(`${reference}:/envd:ro`)
  const id = await startContainer({
    Image: image,
    Entrypoint: ['/bin/sh', '-c', ADD_ACCOUNT, 'sh'],
    Cmd: command,
    User: '0:0',
    Labels: { [LABEL]: String(process.pid) },
    OpenStdin: true,
    HostConfig: {
      Init: true,
      Binds: binds,
      Memory: MEMORY_BYTES,
      MemorySwap: MEMORY_BYTES,
      CpuPeriod: 100_000,
      CpuQuota: 200_000,
    },
  })
  const { State, NetworkSettings } = await getContainer(id)
  const [address = ''] = Object.values(NetworkSettings.Networks).map(({ IPAddress }) => IPAddress)
  return { id, pid: State.Pid, address, root: `/proc/${State.Pid}/root`, [Symbol.asyncDispose]: () => removeContainer(id) }
}

/** Removes the leftovers of runs that have ended; with `own`, also those of this run. */
export async function removeLeftovers({ own }: { readonly own: boolean }): Promise<void> {
  for (const { Id, Labels } of await listContainers(LABEL)) {
    const pid = Number(Labels[LABEL])
    if (pid === process.pid ? own : !existsSync(`/proc/${pid}`)) await removeContainer(Id).catch(() => undefined)
  }
}
