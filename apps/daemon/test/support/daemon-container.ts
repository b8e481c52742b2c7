import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { ensureDaemonDist } from '../../build/dist.ts'

const IMAGE = 'debian:bookworm-slim'
const DAEMON_PORT = 49_983

export const docker = async (...args: string[]): Promise<string> => (await promisify(execFile)('docker', args)).stdout.trim()

/** The built daemon in a container that is like a sandbox, with an account `user`. */
export interface DaemonContainer extends AsyncDisposable {
  readonly url: string
  readonly name: string
}

/** @param limits options of `docker run` */
export async function startDaemonContainer(limits: readonly string[]): Promise<DaemonContainer> {
  const name = `sandyard-daemon-test-${randomUUID().slice(0, 8)}`
  const { dir } = await ensureDaemonDist()
  const { mount, command } = JSON.parse(await readFile(join(dir, 'dist.json'), 'utf8')) as { mount: string; command: string[] }
  const remove = async (): Promise<void> => void (await docker('rm', '--force', name))
  const script = `useradd --create-home --shell /bin/bash user; exec ${command.join(' ')}`
  try {
    await docker('run', '--detach', '--init', '--name', name, '--volume', `${dir}:${mount}:ro`, ...limits, IMAGE, '/bin/sh', '-c', script)
    const url = `http://${await docker('inspect', '--format', '{{.NetworkSettings.IPAddress}}', name)}:${DAEMON_PORT}`
    await pollUntil({ what: 'the daemon', timeoutMs: 30_000, everyMs: 20 }, () =>
      fetch(`${url}/health`).then(
        () => true,
        () => undefined,
      ),
    )
    return { url, name, [Symbol.asyncDispose]: remove }
  } catch (error) {
    await remove()
    throw error
  }
}
