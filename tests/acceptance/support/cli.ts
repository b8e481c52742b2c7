import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { server } from './server.ts'

const run = promisify(execFile)

/** The installed release of the E2B command line. */
const PROGRAM = createRequire(import.meta.url).resolve('@e2b/cli/dist/index.js')

/**
 * Runs the E2B command line in `directory`, which is also its home, configured by the environment only.
 *
 * @returns its output without colours
 * @throws Error if the exit status is not 0
 */
export async function e2b(directory: string, ...args: string[]): Promise<string> {
  const env = {
    PATH: process.env['PATH'],
    HOME: directory,
    NO_COLOR: '1',
    NO_UPDATE_NOTIFIER: '1',
    E2B_API_KEY: server.apiKey,
    E2B_API_URL: server.apiUrl,
    E2B_SANDBOX_URL: server.sandboxUrl,
  }
  const { stdout, stderr } = await run(process.execPath, [PROGRAM, ...args], { cwd: directory, env, timeout: 200_000 })
  return `${stdout}${stderr}`
}
