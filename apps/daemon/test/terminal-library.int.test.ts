import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { closeSync, readFileSync, statSync } from 'node:fs'
import { requireBinary } from 'node-pty/requireBinary.js'
import { beforeEach, describe, expect, it } from 'vitest'
import { noRoot } from './support/absences.ts'

interface Terminal {
  readonly ptsName: string
  readonly master: { destroy(): void }
  readonly slave: { destroy(): void }
  onData(listener: (text: string) => void): void
  onExit(listener: () => void): void
  resize(cols: number, rows: number): void
}
interface Library {
  spawn(file: string, args: readonly string[], options: object): Terminal
  open(options: object): Terminal
}

/** The package's type declarations do not declare a module. */
const library = createRequire(import.meta.url)('node-pty') as Library
const O_CLOEXEC = 0o2000000
const NOBODY = 65_534

/** The reasons why decision 010 uses only two functions of the library. If one of these tests fails, review the decision. */
describe('node-pty (decision 010)', () => {
  beforeEach(({ skip }) => skip(noRoot !== undefined, noRoot))

  it('spawn: the terminal does not belong to the account of the program', async () => {
    const terminal = library.spawn('/bin/sh', ['-c', 'stat -c %u "$(tty)"; id -G; echo x > "$(tty)"'], {
      uid: NOBODY,
      gid: NOBODY,
      cwd: '/',
      env: {},
    })
    let output = ''
    terminal.onData((text) => (output += text))
    await new Promise<void>((resolve) => terminal.onExit(() => resolve()))
    expect(output).toMatch(/^0\r\n/)
    expect(output).toMatch(/denied/i)
  })

  it('spawn: enters the directory before it sets the identity', async () => {
    const terminal = library.spawn('/bin/pwd', [], { uid: NOBODY, gid: NOBODY, cwd: '/root', env: {} })
    let output = ''
    terminal.onData((text) => (output += text))
    await new Promise<void>((resolve) => terminal.onExit(() => resolve()))
    expect(output).toContain('/root')
  })

  it('open(): replaces a size of 0, and resize() refuses it', () => {
    const terminal = library.open({ cols: 0, rows: 0 })
    expect(execFileSync('stty', ['-F', terminal.ptsName, 'size']).toString()).toBe('24 80\n')
    expect(() => terminal.resize(0, 0)).toThrow('positive')
    for (const stream of [terminal.master, terminal.slave]) stream.destroy()
  })

  it('the native open: descriptors are inherited, and the size is the requested one, also 0', () => {
    const native = requireBinary('pty.node')
    const { master, slave, pty } = native.open(0, 0)
    try {
      const flags = Number.parseInt(/flags:\s+(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${master}`, 'utf8'))?.[1] ?? '', 8)
      expect(flags & O_CLOEXEC).toBe(0)
      expect([statSync(pty).uid, execFileSync('stty', ['-F', pty, 'size']).toString()]).toEqual([0, '0 0\n'])
      native.resize(master, 65_537, 25)
      expect(execFileSync('stty', ['-F', pty, 'size']).toString()).toBe('25 1\n')
    } finally {
      closeSync(slave)
      closeSync(master)
    }
  })
})
