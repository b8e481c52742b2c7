import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { secretDigest } from '@sandyard/kit/secrets/secret-digest'
import { VOLUME_KEY_HEADER } from '../../src/volume-server/server.ts'

const MAIN = join(import.meta.dirname, '../../src/volume-server/main.ts')
export const VOLUME_KEY = 'the key of the volume'

export interface ContentAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; undefined for other bodies. */
  readonly json: Readonly<Record<string, unknown>> | undefined
}

/** The file service in a process of its own, with a directory as its volume. */
export class VolumeServerProcess implements AsyncDisposable {
  readonly url: string
  readonly #child: ChildProcess
  readonly exited: Promise<unknown[]>

  private constructor(child: ChildProcess, exited: Promise<unknown[]>, port: string) {
    this.#child = child
    this.exited = exited
    this.url = `http://127.0.0.1:${port}`
  }

  /** @param program the command to which the flags are appended; default: the sources */
  static async start(root: string, flags: readonly string[] = [], program = [process.execPath, MAIN]): Promise<VolumeServerProcess> {
    const all = ['-host=127.0.0.1', '-port=0', `-root=${root}`, `-instance=${secretDigest(VOLUME_KEY)}`, ...flags]
    const [file = '', ...args] = program
    const child = spawn(file, [...args, ...all], { stdio: ['ignore', 'pipe', 'inherit'] })
    const exited = once(child, 'exit')
    const lines = createInterface({ input: child.stdout })
    const [port] = await Promise.race([once(lines, 'line') as Promise<string[]>, exited.then(() => [])])
    if (port === undefined) throw new Error('the file service did not start')
    return new VolumeServerProcess(child, exited, port)
  }

  async ask(method: string, path: string, init: RequestInit = {}): Promise<ContentAnswer> {
    const headers = new Headers(init.headers)
    if (!headers.has(VOLUME_KEY_HEADER)) headers.set(VOLUME_KEY_HEADER, VOLUME_KEY)
    const answer = await fetch(this.url + path, { ...init, method, headers })
    const text = await answer.text()
    const isJson = answer.headers.get('content-type') === 'application/json'
    return {
      status: answer.status,
      headers: answer.headers,
      text,
      json: isJson ? (JSON.parse(text) as Record<string, unknown>) : undefined,
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.exited
  }
}
