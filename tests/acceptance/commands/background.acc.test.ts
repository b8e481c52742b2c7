import { CommandExitError, NotFoundError, SandboxError, TimeoutError, type Sandbox } from 'e2b'
import { describe, expect, test } from 'vitest'
import { withSandbox } from '../support/with-sandbox.ts'

/** A command that prints `ready`, then each line that is written to the named pipe `/tmp/in`, and exits at `quit`. */
const repeater = 'mkfifo /tmp/in; echo ready; while read -r line; do echo "$line"; [ "$line" = quit ] && exit 7; done <> /tmp/in'

/** A pid that no command has. */
const unknownPid = 4_000_000

async function say({ commands }: Sandbox, line: string): Promise<void> {
  await commands.run(`echo '${line}' > /tmp/in`)
}

async function pids({ commands }: Sandbox): Promise<number[]> {
  return (await commands.list()).map(({ pid }) => pid)
}

describe('[process.Process/List]', () => {
  test('returns each running command with its configuration', async () => {
    await withSandbox(async (sandbox) => {
      expect(await sandbox.commands.list()).toEqual([])
      const handle = await sandbox.commands.run('exec sleep 600', { background: true, cwd: '/tmp', envs: { A: 'b' } })
      expect(await sandbox.commands.list()).toEqual([
        { pid: handle.pid, cmd: '/bin/bash', args: ['-l', '-c', 'exec sleep 600'], envs: { A: 'b' }, cwd: '/tmp', tag: undefined },
      ])
      const { stdout } = await sandbox.commands.run(`tr '\\0' ' ' < /proc/${handle.pid}/cmdline`)
      expect(stdout).toBe('sleep 600 ')
    })
  })
})

describe('[process.Process/Start] [process.Process/Connect]', () => {
  test('a command continues when its client disconnects, and a client that connects gets its later output', async () => {
    await withSandbox(async (sandbox) => {
      const handle = await sandbox.commands.run(repeater, { background: true })
      await expect.poll(() => handle.stdout, { timeout: 10_000 }).toBe('ready\n')
      await handle.disconnect()
      expect(await pids(sandbox)).toContain(handle.pid)

      const heard: string[] = []
      const again = await sandbox.commands.connect(handle.pid, { onStdout: (chunk) => void heard.push(chunk) })
      expect(again.pid).toBe(handle.pid)
      await say(sandbox, 'hello')
      await expect.poll(() => heard.join(''), { timeout: 10_000 }).toBe('hello\n')
      await say(sandbox, 'quit')
      await expect(again.wait()).rejects.toMatchObject({ exitCode: 7, stdout: 'hello\nquit\n' })
      expect(await pids(sandbox)).not.toContain(handle.pid)
    })
  })

  test('all connected clients get the same output', async () => {
    await withSandbox(async (sandbox) => {
      const first = await sandbox.commands.run(repeater, { background: true })
      await expect.poll(() => first.stdout, { timeout: 10_000 }).toBe('ready\n')
      const others = await Promise.all([sandbox.commands.connect(first.pid), sandbox.commands.connect(first.pid)])
      await say(sandbox, 'quit')
      const ends = await Promise.all([first, ...others].map((handle) => handle.wait().catch((error: unknown) => error)))
      expect(ends).toMatchObject([
        { exitCode: 7, stdout: 'ready\nquit\n' },
        { exitCode: 7, stdout: 'quit\n' },
        { exitCode: 7, stdout: 'quit\n' },
      ])
    })
  })

  test('connecting to a command that has just ended returns its end', async () => {
    await withSandbox(async ({ commands }) => {
      const handle = await commands.run('exit 5', { background: true })
      await expect(handle.wait()).rejects.toBeInstanceOf(CommandExitError)
      await expect((await commands.connect(handle.pid)).wait()).rejects.toMatchObject({ exitCode: 5, stdout: '' })
    })
  })

  test('connecting to an unknown pid throws NotFoundError', async () => {
    await withSandbox(async ({ commands }) => {
      await expect(commands.connect(unknownPid)).rejects.toThrow(NotFoundError)
    })
  })
})

describe('[process.Process/SendSignal]', () => {
  test('kills only the named command; a second kill returns false', async () => {
    await withSandbox(async (sandbox) => {
      const [doomed, other] = await Promise.all([
        sandbox.commands.run('exec sleep 600', { background: true }),
        sandbox.commands.run('exec sleep 600', { background: true }),
      ])
      expect(await sandbox.commands.kill(doomed.pid)).toBe(true)
      await expect(doomed.wait()).rejects.toMatchObject({ exitCode: -1, error: 'signal: killed' })
      expect(await pids(sandbox)).toEqual([other.pid])
      expect(await sandbox.commands.kill(doomed.pid)).toBe(false)
      expect(await sandbox.commands.kill(unknownPid)).toBe(false)
    })
  })

  test('ends a killed command at once, although a child still holds its output', async () => {
    await withSandbox(async ({ commands }) => {
      const handle = await commands.run('sleep 600 & echo ready; wait', { background: true })
      await expect.poll(() => handle.stdout, { timeout: 10_000 }).toBe('ready\n')
      expect(await handle.kill()).toBe(true)
      await expect(handle.wait()).rejects.toMatchObject({ error: 'signal: killed' })
      expect((await commands.run('pgrep -c -x sleep')).stdout).toBe('1\n')
    })
  })
})

describe('[process.Process/Start] time limits', () => {
  test('a command that exceeds its limit throws TimeoutError and is ended', async () => {
    await withSandbox(async (sandbox) => {
      await expect(sandbox.commands.run('exec sleep 600', { timeoutMs: 1000 })).rejects.toThrow(TimeoutError)
      await expect.poll(() => sandbox.commands.list(), { timeout: 10_000 }).toEqual([])
    })
  })
})

describe('[process.Process/SendInput]', () => {
  test('writes to the standard input of a command that has one', async () => {
    await withSandbox(async ({ commands }) => {
      const handle = await commands.run('read -r a; read -r b; echo "$b, $a"', { background: true, stdin: true })
      await handle.sendStdin('wörld\n')
      await commands.sendStdin(handle.pid, new TextEncoder().encode('hello\n'))
      expect(await handle.wait()).toMatchObject({ stdout: 'hello, wörld\n', exitCode: 0 })
    })
  })

  test('fails for a command without input and for an unknown pid', async () => {
    await withSandbox(async ({ commands }) => {
      const handle = await commands.run('exec sleep 600', { background: true })
      await expect(handle.sendStdin('x')).rejects.toThrow(SandboxError)
      await expect(commands.sendStdin(unknownPid, 'x')).rejects.toThrow(NotFoundError)
    })
  })
})

describe('[process.Process/CloseStdin]', () => {
  test('ends the input of a command', async () => {
    await withSandbox(async ({ commands }) => {
      const handle = await commands.run('wc -c', { background: true, stdin: true })
      await handle.sendStdin('x'.repeat(100_000))
      await handle.closeStdin()
      expect((await handle.wait()).stdout.trim()).toBe('100000')
    })
  })
})
