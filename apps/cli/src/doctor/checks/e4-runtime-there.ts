import { fail, ok, type Check, type Finding } from '../check.ts'
import { sharesKernel } from '../shared-kernel.ts'

export const runtimeThere: Check = {
  id: 'E4',
  title: 'Runtime there',
  checks:
    '`/info` has the runtime of `SANDYARD_SANDBOX_RUNTIME`, else fails; with `--deep` a sandbox of gVisor or Kata has another kernel than the host, else fails',
  why: 'The server does not start without the runtime, and a runtime with a kernel of its own that is not used protects nothing.',
  todo: 'Add the runtime to /etc/docker/daemon.json ("runtimes") and restart the engine, or unset SANDYARD_SANDBOX_RUNTIME.',
  async run(facts): Promise<Finding> {
    const { Runtimes, DefaultRuntime, KernelVersion } = await facts.engine.info()
    const runtime = facts.settings.sandboxRuntime ?? DefaultRuntime
    if (!(runtime in Runtimes)) return fail(`the engine has no runtime "${runtime}"; it has ${Object.keys(Runtimes).sort().join(', ')}`)
    if (!facts.isDeep) return ok(`the engine has ${runtime}`)
    const sandbox = await facts.sandboxes.first()
    const kernel = (await sandbox.run('uname -r')).stdout.trim()
    const found = `sandboxes run on ${runtime}, kernel ${kernel}; the host has ${KernelVersion}`
    const isOwn = kernel !== KernelVersion
    return isOwn || sharesKernel(runtime) ? ok(found) : fail(`${found}: they share the kernel of the host`)
  },
}
