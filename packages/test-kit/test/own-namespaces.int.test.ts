import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { inOwnNamespaces } from '../src/own-namespaces.ts'

const TIMEOUT_MS = 30_000

/** The parent of `sleep` ends, then `sleep`: until the first process has reaped it, it is a zombie that signals reach. */
const ORPHAN = `
  import { spawnSync } from 'node:child_process'
  import { setTimeout as delay } from 'node:timers/promises'
  const pid = Number(spawnSync('sh', ['-c', 'sleep 60 >&- 2>&- & echo $!'], { encoding: 'utf8' }).stdout)
  const isThere = () => { try { return process.kill(pid, 0) } catch { return false } }
  const before = isThere()
  process.kill(pid, 'SIGKILL')
  const deadline = Date.now() + 10_000
  while (isThere() && Date.now() < deadline) await delay(20)
  console.log(JSON.stringify({ before, after: isThere() }))
  process.exitCode = 7
`

function run(command: readonly string[]): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  const [program, ...args] = inOwnNamespaces(command)
  return spawnSync(program, args, { encoding: 'utf8', timeout: TIMEOUT_MS })
}

describe('own namespaces', () => {
  const isAbsent = run(['true']).status !== 0
  it('reap what has lost its parent, and end with the exit code of the command', ({ skip }) => {
    skip(isAbsent, 'absent here: root and namespaces of processes and networks')
    const { status, stdout } = run([process.execPath, '--input-type=module', '-e', ORPHAN])
    expect(JSON.parse(stdout)).toEqual({ before: true, after: false })
    expect(status).toBe(7)
  })
})
