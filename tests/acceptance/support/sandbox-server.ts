import { readFile } from 'node:fs/promises'
import type { Sandbox } from 'e2b'
import { expect } from 'vitest'

/** Starts `port-server.py` in a sandbox, and returns when it listens on `port`. The server runs until the sandbox ends. */
export async function startServer(sandbox: Sandbox, port: number, host = '0.0.0.0'): Promise<void> {
  await sandbox.files.write('/tmp/port-server.py', await readFile(new URL('port-server.py', import.meta.url), 'utf8'))
  const command = `python3 /tmp/port-server.py ${host} ${port}`
  const handle = await sandbox.commands.run(command, { background: true, timeoutMs: 0 })
  await expect.poll(() => handle.stdout + handle.stderr, { timeout: 20_000 }).toBe('listening\n')
}
