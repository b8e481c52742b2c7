import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import type { CliParts } from '../cli-parts.ts'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'
import { CHECKOUT } from './running-server.ts'

/**
 * Runs `docker compose` on the file of the checkout. Its words go to stderr.
 *
 * @returns what it printed on stdout
 * @throws CliFailure `failed`; `notReachable` when there is no `docker`; the abort reason
 */
export async function compose({ environment, output, signal }: CliParts, ...args: string[]): Promise<string> {
  const child = spawn('docker', ['compose', ...args], { cwd: CHECKOUT, env: environment, stdio: ['ignore', 'pipe', 'pipe'], signal })
  child.stderr.on('data', (chunk: Buffer) => void output.stderr.write(chunk))
  try {
    const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'close') as Promise<[number | null]>])
    if (code === 0) return printed
    throw new CliFailure(EXIT.failed, `"docker compose ${args.join(' ')}" ended with ${code ?? 'a signal'}.`)
  } catch (err) {
    signal.throwIfAborted()
    if ((err as NodeJS.ErrnoException).code !== 'ENOENT') throw err
    throw new CliFailure(EXIT.notReachable, 'The program "docker" with its compose plugin is missing: install it and run this again.', {
      cause: err,
    })
  }
}
