import type { CommandHandle, Sandbox } from 'e2b'
import { describe, expect, test } from 'vitest'
import { withSandbox } from '../support/with-sandbox.ts'

const SIZE = { cols: 80, rows: 24 }
const ALTERNATE_SCREEN = { on: '\u001b[?1049h', off: '\u001b[?1049l' }

/** A terminal of the sandbox: the output that the SDK has received so far, and a method to type. */
async function sitDown(sandbox: Sandbox) {
  const decoder = new TextDecoder()
  const screen = { text: '' }
  const show = (bytes: Uint8Array): void => void (screen.text += decoder.decode(bytes, { stream: true }))
  const handle = await sandbox.pty.create({ ...SIZE, onData: show, timeoutMs: 0 })
  const type = (keys: string): Promise<void> => sandbox.pty.sendInput(handle.pid, new TextEncoder().encode(keys))
  /** Waits for a text after the last match. */
  let from = 0
  async function sees(text: string): Promise<void> {
    await expect.poll(() => screen.text.indexOf(text, from), { timeout: 20_000, interval: 10 }).toBeGreaterThanOrEqual(0)
    from = screen.text.indexOf(text, from) + text.length
  }
  await sees('$')
  return { handle, screen, type, sees, show }
}

/** The end of the terminal, whether or not the SDK throws it as an error. */
function endOf(handle: CommandHandle): Promise<unknown> {
  return handle.wait().then(
    ({ exitCode }) => exitCode,
    (error: unknown) => (error as { exitCode?: number }).exitCode ?? error,
  )
}

describe('[process.Process/Start] [process.Process/SendInput] a terminal of the SDK', () => {
  test('runs a login shell of the user, with history, colours and the requested size', async () => {
    await withSandbox(async (sandbox) => {
      const { handle, type, sees } = await sitDown(sandbox)
      await type('echo "$USER:$TERM:$(stty size):$PWD"\r')
      await sees('user:xterm-256color:24 80:/home/user')
      await type('exit 5\r')
      expect(await endOf(handle)).toBe(5)
    })
  })

  test('vi edits a file', async () => {
    await withSandbox(async (sandbox) => {
      const { type, sees } = await sitDown(sandbox)
      await type('vi note.txt\r')
      await sees(ALTERNATE_SCREEN.on)
      await sees('note.txt')
      await type('ihello from vi\u001b')
      await type(':wq\r')
      await sees(ALTERNATE_SCREEN.off)
      await expect.poll(() => sandbox.files.read('note.txt').catch(() => ''), { timeout: 10_000 }).toBe('hello from vi\n')
    })
  })

  test('less shows pages, and top redraws its screen', async () => {
    await withSandbox(async (sandbox) => {
      const { type, sees } = await sitDown(sandbox)
      await type('seq -f "line %g." 1000 | less\r')
      await sees('line 23.')
      await type(' ')
      await sees('line 46.')
      await type('G')
      await sees('line 1000.')
      await type('q')
      await sees('$')
      await type('top -d 0.2\r')
      for (let frame = 0; frame < 3; frame += 1) await sees('load average')
      await type('q')
      await sees('$')
    })
  })

  test('[process.Process/Update] a program gets the new size', async () => {
    await withSandbox(async (sandbox) => {
      const { handle, type, sees } = await sitDown(sandbox)
      await type(`trap 'echo now $(stty size).' WINCH; echo trap-""set\r`)
      await sees('trap-set')
      await sandbox.pty.resize(handle.pid, { cols: 132, rows: 43 })
      await type('\r')
      await sees('now 43 132.')
    })
  })

  test('[process.Process/Connect] several clients can disconnect and connect again', async () => {
    await withSandbox(async (sandbox) => {
      const first = await sitDown(sandbox)
      await first.handle.disconnect()
      let second = ''
      const again = await sandbox.pty.connect(first.handle.pid, { onData: (bytes) => void (second += Buffer.from(bytes).toString()) })
      await first.type('echo still-$((40 + 2))\r')
      await expect.poll(() => second, { timeout: 10_000 }).toContain('still-42')
      expect(await sandbox.pty.kill(again.pid)).toBe(true)
      expect(await endOf(again)).toBe(-1)
      expect(await sandbox.pty.kill(again.pid)).toBe(false)
    })
  })

  test('[process.Process/SendSignal] the foreground program of a killed terminal gets SIGHUP', async () => {
    await withSandbox(async (sandbox) => {
      const { handle, type, sees } = await sitDown(sandbox)
      await type('echo sle""eping; sleep 4711\r')
      await sees('sleeping')
      await expect.poll(async () => (await sandbox.commands.run('pgrep -f "sleep 4711$" || true')).stdout, { timeout: 10_000 }).not.toBe('')
      await handle.kill()
      await expect.poll(async () => (await sandbox.commands.run('pgrep -f "sleep 4711$" || true')).stdout, { timeout: 10_000 }).toBe('')
    })
  })
})
