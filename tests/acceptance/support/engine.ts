import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Runs a command of the Docker client and returns its output lines, e.g. to check that a container was removed. */
export async function engine(...args: string[]): Promise<string[]> {
  const { stdout } = await run('docker', args)
  return stdout.split('\n').filter((line) => line !== '')
}

/** The containers, in any state, that have every label. */
export async function containersWith(...labels: string[]): Promise<string[]> {
  return engine('ps', '--all', '--quiet', ...labels.flatMap((label) => ['--filter', `label=${label}`]))
}

/** Removes the containers and networks that have a label. */
export async function removeAllWith(label: string): Promise<void> {
  const containers = await containersWith(label)
  if (containers.length > 0) await engine('rm', '--force', '--volumes', ...containers)
  const networks = await engine('network', 'ls', '--quiet', '--filter', `label=${label}`)
  if (networks.length > 0) await engine('network', 'rm', ...networks)
}
