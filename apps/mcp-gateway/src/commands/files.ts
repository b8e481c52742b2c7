import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The files of the gateway: `.token` is what clients read as root (clients.md 3). */
export const filesOf = (directory: string): Record<'token' | 'config' | 'log' | 'pid', string> => ({
  token: join(directory, '.token'),
  config: join(directory, 'config.json'),
  log: join(directory, 'gateway.log'),
  pid: join(directory, 'gateway.pid'),
})

/** Writes a file that only its owner reads, as a whole or not at all. */
export async function writeSecret(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 })
  await rename(`${path}.new`, path)
}

export async function readPid(path: string): Promise<number | undefined> {
  const pid = Number(await readFile(path, 'utf8').catch(() => ''))
  return Number.isInteger(pid) && pid > 1 ? pid : undefined
}
