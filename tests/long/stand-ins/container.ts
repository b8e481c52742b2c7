import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { pollUntil } from '../../../packages/kit/src/async/poll-until.ts'
import { randomId } from '../../../packages/kit/src/ids/ids.ts'

const CALL_TIMEOUT_MS = 60_000

/** Standard output of the engine's command line, without white space at the end. @throws with its error output */
export async function docker(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('docker', args, { timeout: CALL_TIMEOUT_MS })
  return stdout.trim()
}

/** What a Compose file for production sets where it can. */
export const CONFINED = ['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges']

/** A container and a volume of the same name, which are removed at the end. */
export class Container implements AsyncDisposable {
  readonly name = `sandyard-test-stand-in-${randomId(8)}`

  /** Starts it. The volume is mounted at `volume`. */
  async start(
    image: string,
    options: { readonly volume: string; readonly flags: readonly string[]; readonly command?: readonly string[] },
  ) {
    await docker(
      'run',
      '--detach',
      '--name',
      this.name,
      '-v',
      `${this.name}:${options.volume}`,
      ...options.flags,
      image,
      ...(options.command ?? []),
    )
  }

  exec(...command: readonly string[]): Promise<string> {
    return docker('exec', this.name, ...command)
  }

  /** Waits until a command succeeds in it, and returns its output. */
  async whenOk(...command: readonly string[]): Promise<string> {
    const what = `"${command.join(' ')}" in ${this.name}`
    return await pollUntil({ what, timeoutMs: CALL_TIMEOUT_MS, everyMs: 200 }, () => this.exec(...command).catch(() => undefined))
  }

  logs(): Promise<string> {
    return promisify(execFile)('docker', ['logs', this.name]).then(({ stdout, stderr }) => `${stdout}${stderr}`)
  }

  async exitCode(): Promise<number> {
    return Number(await docker('wait', this.name))
  }

  async address(): Promise<string> {
    return await docker('inspect', '--format', '{{.NetworkSettings.IPAddress}}', this.name)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await docker('rm', '--force', '--volumes', this.name).catch(() => undefined)
    await docker('volume', 'rm', '--force', this.name).catch(() => undefined)
  }
}
