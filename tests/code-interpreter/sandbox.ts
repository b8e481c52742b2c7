import { Sandbox } from '@e2b/code-interpreter'
import { install } from '../ready-made/support/install.ts'

/** Ends the sandbox with the test. */
export interface OpenSandbox extends AsyncDisposable {
  readonly sandbox: Sandbox
}

/** A sandbox of the template `code-interpreter-v1`, or the running one that `CODE_INTERPRETER_SANDBOX` names, while the server is worked on. */
export async function openSandbox(envs: Record<string, string> = {}): Promise<OpenSandbox> {
  const existing = process.env['CODE_INTERPRETER_SANDBOX']
  if (existing !== undefined) return { sandbox: await Sandbox.connect(existing), [Symbol.asyncDispose]: async () => undefined }
  await install('code-interpreter-v1')
  const sandbox = await Sandbox.create({ envs })
  return { sandbox, [Symbol.asyncDispose]: async () => void (await sandbox.kill()) }
}
