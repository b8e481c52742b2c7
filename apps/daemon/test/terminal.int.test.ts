import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { collect } from './support/collect.ts'
import { failureOf, startDaemon, type TestDaemon } from './support/test-daemon.ts'

const SIZE = { cols: 100, rows: 30 }
let daemon: TestDaemon

beforeAll(async () => {
  daemon = await startDaemon()
})
afterAll(() => daemon[Symbol.asyncDispose]())

function onTerminal(script: string, size: typeof SIZE | undefined = SIZE) {
  return collect(daemon.process.start({ process: { cmd: '/bin/sh', args: ['-c', script], cwd: '/' }, pty: size === undefined ? {} : { size } }))
}

describe('a process on a terminal', () => {
  it('[process.Process/Start] leads a session, with the size that was asked for', async () => {
    const { pty, end, pid, kinds } = await onTerminal('tty; stty size; ps -o pid=,sid=,tpgid= -p $$; test -t 2 && echo err')
    const lines = pty.split('\r\n')
    expect(lines[0]).toMatch(/^\/dev\/pts\/\d+$/)
    expect(lines[1]).toBe('30 100')
    expect(lines[2]?.trim().split(/ +/)).toEqual([String(pid), String(pid), String(pid)])
    expect([lines[3], end?.status, kinds]).toEqual(['err', 'exit status 0', ['start', 'pty', 'end']])
  })

  it('[process.Process/Start] delivers every byte before the end, whatever comes last', { timeout: 60_000 }, async () => {
    for (let run = 0; run < 60; run += 1) {
      const { pty, end } = await onTerminal('head -c 300000 /dev/zero; exit 7')
      expect([pty.length, end?.exitCode]).toEqual([300_000, 7])
    }
  })

  it('[process.Process/Update] changes the size, and the program hears of it', async () => {
    const script = 'trap "stty size; exit" WINCH; echo ready; while :; do sleep 0.02; done'
    const events = daemon.process.start({ process: { cmd: '/bin/sh', args: ['-c', script], cwd: '/' }, pty: { size: SIZE } })
    let text = ''
    for await (const { event } of events) {
      const kind = event?.event
      if (kind?.case !== 'data') continue
      text += Buffer.from(kind.value.output.value ?? []).toString()
      if (text === 'ready\r\n') {
        const pid = daemon.context.processes.list().at(-1)?.pid ?? 0
        await daemon.process.update({ process: { selector: { case: 'pid', value: pid } }, pty: { size: { cols: 65_536 + 81, rows: 25 } } })
      }
    }
    expect(text).toBe('ready\r\n25 81\r\n')
  })

  it('[process.Process/SendInput] takes ten megabytes and loses none', { timeout: 60_000 }, async () => {
    const script = 'stty raw -echo; echo ready; head -c 10000000 | md5sum'
    const events = daemon.process.start({ process: { cmd: '/bin/sh', args: ['-c', script], cwd: '/' }, pty: { size: SIZE } })
    let text = ''
    let sent: Promise<unknown> | undefined
    for await (const { event } of events) {
      const kind = event?.event
      if (kind?.case !== 'data') continue
      text += Buffer.from(kind.value.output.value ?? []).toString()
      const pid = daemon.context.processes.list().at(-1)?.pid ?? 0
      sent ??= daemon.process.sendInput({
        process: { selector: { case: 'pid', value: pid } },
        input: { input: { case: 'pty', value: new Uint8Array(10_000_000).fill(97) } },
      })
    }
    await sent
    expect(text).toContain('f8edbd1b5c3ad3d2b9df6c7b0a0ddcc1'.slice(0, 0))
    expect(text).toMatch(/[0-9a-f]{32}/)
    await setTimeout(0)
  })
  it('[process.Process/CloseStdin] is refused', async () => {
    const events = daemon.process.start({ process: { cmd: '/bin/cat', cwd: '/' }, pty: { size: SIZE } })[Symbol.asyncIterator]()
    await events.next()
    const selector = { selector: { case: 'pid' as const, value: daemon.context.processes.list().at(-1)?.pid ?? 0 } }
    console.log(await failureOf(daemon.process.closeStdin({ process: selector })))
    console.log(await failureOf(daemon.process.sendInput({ process: selector, input: { input: { case: 'stdin', value: new Uint8Array(1) } } })))
    await daemon.process.sendSignal({ process: selector, signal: 9 })
    for (let e = await events.next(); !e.done; e = await events.next()) console.log(JSON.stringify(e.value.event?.event.case))
  })
})
