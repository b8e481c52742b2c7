import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { withSandbox } from '../support/with-sandbox.ts'

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

describe('[process.Process/Start] output', () => {
  test('arrives while the command runs, on both streams', async () => {
    await withSandbox(async ({ commands }) => {
      const seen: string[] = []
      const answer = async (chunk: string): Promise<void> => {
        seen.push(chunk.trim())
        if (chunk === 'out\n') await commands.run('echo go > /tmp/after-out')
        if (chunk === 'err\n') await commands.run('echo go > /tmp/after-err')
      }
      const script =
        'mkfifo /tmp/after-out /tmp/after-err; echo out; read x < /tmp/after-out; echo err >&2; read x < /tmp/after-err; echo done'
      await commands.run(script, { onStdout: answer, onStderr: answer })
      expect(seen).toEqual(['out', 'err', 'done'])
    })
  })

  test('is byte-exact for 5 MB on each stream at once', async () => {
    const script = `
      head -c 5000000 /dev/urandom | base64 -w 0 > /tmp/out
      head -c 5000000 /dev/urandom | base64 > /tmp/err
      cat /tmp/out & cat /tmp/err >&2 & wait`
    await withSandbox(async ({ commands }) => {
      const { stdout, stderr } = await commands.run(script)
      const sums = await commands.run('sha256sum < /tmp/out; sha256sum < /tmp/err')
      expect([sha256(stdout), sha256(stderr)]).toEqual(sums.stdout.split(/\s+-\s*/).slice(0, 2))
    })
  })

  test('does not split characters at the border of two chunks', async () => {
    const line = 'aé€🚀日'.repeat(7)
    await withSandbox(async ({ commands }) => {
      const { stdout } = await commands.run(`for i in $(seq 20000); do printf '${line}'; done`)
      expect(stdout.length).toBe(line.length * 20_000)
      expect(stdout === line.repeat(20_000)).toBe(true)
    })
  })

  test('is complete when the command writes many small pieces', async () => {
    await withSandbox(async ({ commands }) => {
      const chunks: string[] = []
      const { stdout } = await commands.run('for i in $(seq 2000); do echo $i; done', { onStdout: (chunk) => void chunks.push(chunk) })
      const expected = Array.from({ length: 2000 }, (_, index) => `${index + 1}\n`).join('')
      expect(stdout).toBe(expected)
      expect(chunks.join('')).toBe(expected)
    })
  })

  test('includes the output of a child that outlives its shell', async () => {
    await withSandbox(async ({ commands }) => {
      const script = 'mkfifo /tmp/gate; (read x < /tmp/gate; echo from-child) & echo from-shell'
      const { stdout } = await commands.run(script, {
        onStdout: async (chunk) => {
          if (chunk === 'from-shell\n') await commands.run('echo > /tmp/gate')
        },
      })
      expect(stdout).toBe('from-shell\nfrom-child\n')
    })
  })
})
