import { chmod, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FakeRuntime } from '@sandyard/runtime/fake/fake-runtime'
import { startDaemon, type TestDaemon } from '../../daemon/test/support/test-daemon.ts'
import { createBench, createSandbox, type Bench } from './support/bench.ts'
import { openTerminal } from './support/open-terminal.ts'
import { startCli } from './support/run-cli.ts'

/** A sandbox whose daemon runs on this machine, reached without a proxy: E2B_SANDBOX_URL is its address. */
let bench: Bench
let daemon: TestDaemon
let id: string
/** A folder of the "sandbox". */
let inside: string
beforeAll(async () => {
  inside = await mkdtemp(join(tmpdir(), 'sandyard-cli-inside-'))
  daemon = await startDaemon()
  const daemonPort = Number(new URL(daemon.url).port)
  bench = await createBench({
    runtime: (options) => new FakeRuntime({ ...options, endpointOf: () => ({ host: '127.0.0.1', daemonPort }) }),
  })
  id = await createSandbox(bench, { timeout: 3600 })
})
afterAll(async () => {
  await bench[Symbol.asyncDispose]()
  await daemon[Symbol.asyncDispose]()
  await rm(inside, { recursive: true, force: true })
})

const env = () => ({ ...bench.env, E2B_SANDBOX_URL: daemon.url })
const exec = (args: readonly string[], input = '') =>
  bench.sandyard(['exec', '--user', 'root', '--workdir', inside, ...args], { env: { E2B_SANDBOX_URL: daemon.url }, input })
const cp = (from: string, to: string, ...options: string[]) =>
  bench.sandyard(['cp', '--user', 'root', from, to, ...options], { env: { E2B_SANDBOX_URL: daemon.url } })

describe('sandyard exec', () => {
  it('passes the outputs apart, and ends with the exit code of the command', async () => {
    expect(await exec([id, '--', 'sh', '-c', 'echo out; echo err >&2; exit 7'])).toEqual({ code: 7, stdout: 'out\n', stderr: 'err\n' })
    expect(await exec([id, '--', 'sh', '-c', 'kill -9 $$'])).toMatchObject({ code: 137 })
  })

  it('gives the command its arguments as they are, its directory and its variables', async () => {
    const result = await exec(['-e', 'A=1', '-e', 'B=x y', id, '--', 'sh', '-c', 'echo "$PWD|$A|$B|$1"', '-', '*  -x'])
    expect(result.stdout).toBe(`${inside}|1|x y|*  -x\n`)
  })

  it('passes its input to the end, or none', async () => {
    const large = 'line of input\n'.repeat(50_000)
    expect((await exec([id, '--', 'cat'], large)).stdout).toBe(large)
    expect(await exec(['--no-stdin', id, '--', 'cat'], 'not read')).toEqual({ code: 0, stdout: '', stderr: '' })
    expect((await exec([id, '--', 'true'], large)).code).toBe(0)
  })

  it('ends with 3 for a sandbox, and with 127 for a program, that is not there', async () => {
    expect((await exec(['i'.padEnd(21, '0'), '--', 'true'])).code).toBe(3)
    const { code, stderr } = await exec([id, '--', '/no/such/program'])
    expect(code).toBe(127)
    expect(stderr).toContain('/no/such/program: not found')
  })

  it('ends with 5 when the sandbox is not reachable', async () => {
    const { code, stderr } = await bench.sandyard(['exec', id, '--', 'true'], { env: { E2B_SANDBOX_URL: 'http://127.0.0.1:1' } })
    expect(code).toBe(5)
    expect(stderr).toMatch(/^sandyard: .+\.\n$/)
  })

  it('ends the command in the sandbox when it is interrupted', async () => {
    const interrupt = Promise.withResolvers<void>()
    await using cli = startCli({
      args: ['exec', '--user', 'root', '--workdir', inside, id, '--', 'sh', '-c', `echo ready; exec sleep 3600`],
      env: env(),
      cwd: bench.folder,
      interrupt: interrupt.promise,
    })
    await expect.poll(cli.stdout).toBe('ready\n')
    expect(daemon.context.processes.list()).toHaveLength(1)
    interrupt.resolve()
    expect(await cli.ended).toBe(130)
    await expect.poll(() => daemon.context.processes.list()).toHaveLength(0)
  })

  it('resumes a paused sandbox', async () => {
    expect((await bench.server.call('POST', `/sandboxes/${id}/pause`)).status).toBe(204)
    expect(await exec([id, '--', 'echo', 'awake'])).toEqual({
      code: 0,
      stdout: 'awake\n',
      stderr: `The sandbox ${id} is paused and is resumed.\n`,
    })
  })
})

describe('sandyard cp', () => {
  it('copies a file in and out, with its mode, under the name or into the directory', async () => {
    const script = join(bench.folder, 'run me.sh')
    await writeFile(script, '#!/bin/sh\necho "$1"\n')
    await chmod(script, 0o755)
    expect(await cp(script, `${id}:${inside}/deep/`)).toMatchObject({ code: 0, stdout: '', stderr: '1 file copied.\n' })
    expect((await exec([id, '--', join(inside, 'deep', 'run me.sh'), 'works'])).stdout).toBe('works\n')
    expect(await cp('run me.sh', `${id}:${inside}`)).toMatchObject({ code: 0 })
    expect(await readFile(join(inside, 'run me.sh'), 'utf8')).toContain('echo')
    expect(await cp(`${id}:${inside}/run me.sh`, 'copy.sh')).toMatchObject({ code: 0 })
    expect((await stat(join(bench.folder, 'copy.sh'))).mode & 0o777).toBe(0o755)
    expect(JSON.parse((await cp(`${id}:${inside}/run me.sh`, '.', '--json')).stdout)).toEqual({ files: 1, skipped: [] })
  })

  it('copies directories both ways, and names what it leaves out', async () => {
    const tree = join(bench.folder, 'tree')
    await mkdir(join(tree, 'a', 'empty'), { recursive: true })
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251))
    await writeFile(join(tree, 'a', 'bytes'), bytes)
    await writeFile(join(tree, 'note'), 'hello')
    await symlink('note', join(tree, 'link'))
    await symlink('/nowhere', join(tree, 'broken'))
    const up = await cp('tree', `${id}:${inside}`)
    expect(up).toMatchObject({ code: 0 })
    expect(up.stderr).toBe(`left out, neither a file nor a directory: ${tree}/broken\n3 files copied.\n`)
    await symlink('note', join(inside, 'tree', 'inner-link'))
    const down = await cp(`${id}:${inside}/tree`, 'back')
    expect(down.stderr).toBe(`left out, neither a file nor a directory: ${inside}/tree/inner-link\n3 files copied.\n`)
    expect(await readFile(join(bench.folder, 'back', 'a', 'bytes'))).toEqual(bytes)
    expect((await stat(join(bench.folder, 'back', 'a', 'empty'))).isDirectory()).toBe(true)
  })

  it('ends with 3 when there is nothing to copy, and leaves nothing behind', async () => {
    expect((await cp(`${id}:/no/such/file`, 'nothing')).code).toBe(3)
    expect((await cp('no-such-file', `${id}:/tmp/nothing`)).code).toBe(3)
    await expect(stat(join(bench.folder, 'nothing'))).rejects.toThrow('ENOENT')
  })
})

describe('sandyard connect', () => {
  const connect = (...args: string[]) =>
    openTerminal({ args: ['connect', '--user', 'root', '--workdir', inside, ...args], env: { ...env(), TERM: 'xterm' }, cwd: bench.folder })

  it('is a terminal: keys, Ctrl-C, the size and its changes, and the exit code of the shell', async () => {
    using cli = connect(id)
    await cli.sees('# ')
    cli.terminal.write('echo "at $PWD with $TERM and $(stty size)"\r')
    await cli.sees(`at ${inside} with xterm and 24 80`)
    cli.terminal.write('sleep 3600\r')
    await expect.poll(() => daemon.context.processes.list()).toHaveLength(1)
    cli.terminal.write('\u0003')
    await cli.sees('# ')
    cli.terminal.resize(100, 30)
    await expect
      .poll(() => {
        cli.terminal.write('stty size\r')
        return cli.shown()
      })
      .toContain('30 100')
    cli.terminal.write('exit 42\r')
    expect(await cli.ended).toBe(42)
  })

  it('ends its shell when its own terminal is closed', async () => {
    using cli = connect(id)
    await cli.sees('# ')
    expect(daemon.context.processes.list()).toHaveLength(1)
    cli.terminal.kill('SIGHUP')
    await cli.ended
    await expect.poll(() => daemon.context.processes.list()).toHaveLength(0)
  })

  it('says that the sandbox has ended', async () => {
    using cli = connect(id)
    await cli.sees('# ')
    expect((await bench.server.call('DELETE', `/sandboxes/${id}`)).status).toBe(204)
    daemon.shutDown()
    expect(await cli.ended).toBe(1)
    expect(cli.shown()).toContain(`sandyard: The sandbox ${id} has ended.`)
  })
})
