import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'

const ROOT = join(import.meta.dirname, '../../../..')
const AGENT = '/repo/tests/differential/src/agent/main.ts'
const AGENT_PORT = 49_900
const DAEMON_PORT = 49_983

export interface ContainerSpec {
  readonly label: string
  readonly image: string
  /** The distribution of our daemon. Both twins have it, since the agent runs on its Node. */
  readonly distribution: { readonly dir: string; readonly mount: string; readonly node: readonly string[] }
  readonly daemon: readonly string[]
  /** Additional read-only mounts: path inside by host path. */
  readonly mounts: Readonly<Record<string, string>>
}

export interface Container extends AsyncDisposable {
  readonly host: string
  readonly agentPort: number
  readonly daemonPort: number
}

async function docker(...args: string[]): Promise<string> {
  return (await promisify(execFile)('docker', args)).stdout.trim()
}

/** Starts a twin with the agent as its main program. Files of the host are mounted read-only. */
export async function startContainer(spec: ContainerSpec): Promise<Container> {
  const { distribution } = spec
  const name = `sandyard-differential-${spec.label}-${randomBytes(4).toString('hex')}`
  const mounts = { [ROOT]: '/repo', [distribution.dir]: distribution.mount, ...spec.mounts }
  const agent = [...distribution.node, AGENT, String(AGENT_PORT), String(DAEMON_PORT), ...spec.daemon]
  const accounts =
    'groupadd --gid 4300 extra && useradd --create-home --uid 1000 --groups extra --shell /bin/bash user && useradd --create-home --uid 1001 other'
  const volumes = Object.entries(mounts).flatMap(([from, to]) => ['--volume', `${from}:${to}:ro`])
  const options = ['--detach', '--init', '--name', name, '--hostname', 'twin', '--tmpfs', '/mnt/other']
  await docker('run', ...options, ...volumes, spec.image, '/bin/sh', '-c', `${accounts} && exec "$0" "$@"`, ...agent)
  async function remove(): Promise<void> {
    await docker('rm', '--force', name)
  }
  try {
    const host = await docker('inspect', '--format', '{{.NetworkSettings.IPAddress}}', name)
    return { host, agentPort: AGENT_PORT, daemonPort: DAEMON_PORT, [Symbol.asyncDispose]: remove }
  } catch (error) {
    await remove()
    throw error
  }
}
