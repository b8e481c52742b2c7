import type { Sandbox } from '@e2b/code-interpreter'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSandbox, type OpenSandbox } from './sandbox.ts'

let open: OpenSandbox
let sandbox: Sandbox

beforeAll(async () => {
  open = await openSandbox()
  sandbox = open.sandbox
})
afterAll(() => open[Symbol.asyncDispose]())

const bash = { language: 'bash' } as const

/** What a cell of Bash prints to both outputs, and its status. */
async function run(code: string): Promise<{ stdout: string; stderr: string; status: string }> {
  const { logs, error } = await sandbox.runCode(code, bash)
  return { stdout: logs.stdout.join(''), stderr: logs.stderr.join(''), status: error?.value ?? '0' }
}

describe('runCode in Bash', () => {
  test('keeps variables, functions, aliases and the directory', async () => {
    await run('a=1; cd /tmp\nf() { echo "f $1"; }\nalias ll="echo aliased"')
    expect(await run('echo $a; pwd; f "é 😀"; ll')).toEqual({ stdout: '1\n/tmp\nf é 😀\naliased\n', stderr: '', status: '0' })
  })

  test.each([
    ['prints to both outputs', 'echo out; echo err >&2', 'out\n', 'err\n', '0'],
    ['prints no end of line', 'printf "a\\rb"', 'a\rb', '', '0'],
    ['has a status', '(exit 7)', '', '', '7'],
    ['has tabs and exclamation marks', 'for i in 1 2; do\n\techo "a!b $i"\ndone', 'a!b 1\na!b 2\n', '', '0'],
    ['has a document', "cat <<'X'\none\n\ttwo $HOME\n\nX\necho end", 'one\n\ttwo $HOME\n\nend\n', '', '0'],
    ['reads its standard input', 'read line\necho "[$line]"; cat', '[]\n', '', '0'],
    ['prints the end of a pipe that is read no more', 'yes | head -n 2', 'y\ny\n', '', '0'],
    ['has a long line', `echo ${'x'.repeat(10_000)} | wc -c`, '10001\n', '', '0'],
    ['is empty', ' \n', '', '', '0'],
    ['is a comment', '# nothing', '', '', '0'],
    ['is incomplete', 'echo one\nif true; then', 'one\n', 'bash: syntax error: unexpected end of file\n', '2'],
    ['uses a variable that is not set', 'set -u\necho $nowhere', '', 'bash: nowhere: unbound variable\n', '1'],
  ])('of a cell that %s', async (_, code, stdout, stderr, status) => {
    expect(await run(code)).toEqual({ stdout, stderr, status })
    expect(await run('set +u; echo next')).toEqual({ stdout: 'next\n', stderr: '', status: '0' })
  })

  test('is not disturbed by a prompt that a cell sets', async () => {
    await run('PS1="(venv) "')
    expect(await run('echo a')).toEqual({ stdout: 'a\n', stderr: '', status: '0' })
  })

  test('streams what a cell prints while it runs', async () => {
    let first: number | undefined
    await sandbox.runCode('echo began; sleep 2; echo end', { ...bash, onStdout: () => void (first ??= performance.now()) })
    expect(performance.now() - (first ?? Infinity)).toBeGreaterThan(1000)
  })

  test('loses nothing of 200,000 lines', async () => {
    const { stdout } = await run('seq 200000')
    expect(stdout.split('\n').length).toBe(200_001)
    expect(stdout.endsWith('\n200000\n')).toBe(true)
  }, 60_000)

  test('has a status and a new state after a cell that ends Bash, and keeps the variables of the sandbox', async () => {
    for (const code of ['a=gone; exit 3', 'set -e\na=gone\n(exit 3)\necho not reached']) {
      const { stdout, stderr, status } = await run(code)
      expect([stdout, status]).toEqual(['', '3'])
      expect(stderr).toContain('it is started again')
      expect(await run('echo "[$a]" $E2B_SANDBOX_ID; pwd')).toMatchObject({ stdout: `[] ${sandbox.sandboxId}\n/home/user\n` })
    }
  }, 60_000)

  test('goes on without a process in the background', async () => {
    const { logs } = await sandbox.runCode('sleep 300 >/dev/null &\necho started', bash)
    expect(logs.stdout.join('')).toBe('started\n')
    expect((await run('kill %1')).status).toBe('0')
  })

  test.each([
    ['waits for a process', 'sleep 600'],
    ['loops', 'while true; do :; done'],
    ['runs one process after the other', 'while true; do sleep 0.1; done'],
  ])(
    'interrupts a cell that %s when its client goes, and keeps the state',
    async (_, code) => {
      await run('kept=5')
      await expect(sandbox.runCode(code, { ...bash, timeoutMs: 1000 })).rejects.toThrow('timed out')
      expect(await run('echo $kept')).toEqual({ stdout: '5\n', stderr: '', status: '0' })
    },
    60_000,
  )
})
