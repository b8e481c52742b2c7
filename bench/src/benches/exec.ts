import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Sandbox } from 'e2b'
import { findSandboxContainer } from '../engine.ts'
import type { Comparison } from '../report.ts'
import { interleave, timeMs, type Samples } from '../samples.ts'
import { withSandbox } from '../with-sandbox.ts'

const execFileAsync = promisify(execFile)

/** `commands.run('true')` of the SDK through the proxy, compared with `docker exec` and with a bare login shell in the same container. */
export async function benchExec(): Promise<Comparison[]> {
  return withSandbox(async (sandbox) => {
    const { Id } = await findSandboxContainer(sandbox.sandboxId)
    const shells = await timeLoginShells(sandbox, 20)
    const samples = await interleave(
      { times: 100, warmUps: 10 },
      {
        ours: () => timeMs(() => sandbox.commands.run('true')),
        docker: () => timeMs(() => execFileAsync('docker', ['exec', Id, 'true'])),
      },
    )
    const moreShells = await timeLoginShells(sandbox, 80)
    const what = "commands.run('true') through the proxy"
    return [
      {
        what,
        unit: 'ms',
        ours: samples.ours,
        against: { name: 'docker exec', samples: samples.docker },
        goal: { of: 'ratio', at: ['p50', 'p95'], atMost: 1 / 7 },
      },
      {
        what,
        unit: 'ms',
        ours: samples.ours,
        against: { name: 'login shell', samples: [...shells, ...moreShells] },
        goal: { of: 'ratio', at: ['p50'], atMost: 2 },
      },
    ]
  })
}

/** Milliseconds from spawn to exit of `bash -l -c true`, by the clock of a shell in the sandbox. */
async function timeLoginShells(sandbox: Sandbox, times: number): Promise<Samples> {
  const script = `for i in $(seq ${times}); do s=$EPOCHREALTIME; /bin/bash -l -c true; echo "$s $EPOCHREALTIME"; done`
  const { stdout } = await sandbox.commands.run(script)
  return stdout
    .trim()
    .split('\n')
    .map((line) => {
      const [start = 0, end = 0] = line.replaceAll(',', '.').split(' ').map(Number)
      return (end - start) * 1000
    })
}
