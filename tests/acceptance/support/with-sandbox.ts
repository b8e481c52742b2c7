import { Sandbox, type SandboxOpts } from 'e2b'

/** Creates a sandbox through the SDK, passes it to `work` and kills it, also if `work` fails. */
export async function withSandbox<T>(work: (sandbox: Sandbox) => Promise<T>, options: SandboxOpts = {}): Promise<T> {
  const sandbox = await Sandbox.create(options)
  try {
    return await work(sandbox)
  } finally {
    await sandbox.kill()
  }
}
