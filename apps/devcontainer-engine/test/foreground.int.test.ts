import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { identify } from '../src/work/process-identity.ts'

const PROGRAM = join(import.meta.dirname, '../../../templates/devcontainer/bin/foreground')

/** Runs a script in the place of proot, which writes the exit code of its first process and may go on. */
function inForeground(script: string, ...options: string[]): ChildProcessWithoutNullStreams {
  const child = spawn(PROGRAM, [...options, '--', '/bin/bash', '-c', script])
  // It may end before it has read all.
  child.stdin.on('error', () => {})
  return child
}

async function ended(child: ChildProcessWithoutNullStreams, input = ''): Promise<[number, string, string]> {
  child.stdin.end(input)
  const texts = Promise.all([child.stdout, child.stderr].map((stream) => text(stream)))
  const [code] = (await once(child, 'exit')) as [number]
  const [output = '', errors = ''] = await texts
  return [code, output, errors]
}

const run = (script: string): Promise<[number, string, string]> => ended(inForeground(script))

const FIRST_ENDS_WITH_3 = String.raw`printf '\003' >&$PROOT_STATUS_FD`

describe('foreground', () => {
  it('ends with the code of the first process, with all of its output, while others go on and hold the output open', async () => {
    const [code, output, errors] = await run(`sleep 600 & echo $!; seq 100000; echo why > /dev/stderr; ${FIRST_ENDS_WITH_3}; wait`)
    const [pid = '', ...numbers] = output.trim().split('\n')
    expect([code, numbers.length, errors]).toEqual([3, 100_000, 'why\n'])
    expect(await identify(Number(pid))).toBeDefined()
    process.kill(Number(pid))
  })

  it('ends with the code of proot if that ends before', async () => {
    expect((await run('exit 5'))[0]).toBe(5)
    expect((await run('kill -KILL $$'))[0]).toBe(137)
  })

  it('passes input on with its end, and none without --input', async () => {
    const input = 'line\n'.repeat(100_000)
    const child = inForeground('cat', '--input')
    expect(await ended(child, input)).toEqual([0, input, ''])
    const deaf = inForeground('cat')
    expect(await ended(deaf, input)).toEqual([0, '', ''])
  })

  it('goes on when the command closes its input', async () => {
    const child = inForeground('exec <&-; echo closed', '--input')
    expect(await ended(child, 'x'.repeat(1_000_000))).toEqual([0, 'closed\n', ''])
  })

  it('sends signals to the command', async () => {
    const child = inForeground(`trap 'exit 9' TERM; echo ready; sleep 600 & wait`)
    await once(child.stdout, 'data')
    child.kill('SIGTERM')
    expect((await once(child, 'exit'))[0]).toBe(9)
  })
})
