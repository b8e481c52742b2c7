import { Sandbox } from 'e2b'

/** Runs `work` with a sandbox of the published SDK, which is killed afterwards. */
export async function withSandbox<T>(work: (sandbox: Sandbox) => Promise<T>): Promise<T> {
  const sandbox = await Sandbox.create({ timeoutMs: 600_000 })
  try {
    return await work(sandbox)
  } finally {
    await sandbox.kill()
  }
}
