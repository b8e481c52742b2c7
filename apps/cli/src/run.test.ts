import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { CliResult } from '../test/support/run-cli.ts'
import { runHere } from '../test/support/run-here.ts'

const KEY = `e2b_${'0a'.repeat(20)}`
const TOKEN = `sk_e2b_${'0b'.repeat(20)}`
const ID = 'i'.padEnd(21, '0')

const folder = mkdtempSync(join(tmpdir(), 'sandyard-cli-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A command line without a server and without a terminal. */
function sandyard(args: readonly string[], environment: Record<string, string> = {}, cwd = folder): Promise<CliResult> {
  const env = cwd === folder ? { SANDYARD_DATA_DIR: join(folder, 'nothing'), ...environment } : environment
  return runHere({ args, env, cwd })
}

describe('the command line', () => {
  it.each([
    [['nonsense'], "sandyard: unknown command 'nonsense'"],
    [['ls', '--nonsense'], "sandyard: unknown option '--nonsense'"],
    [['info'], "sandyard: missing required argument 'id'"],
    [['ls', '--state', 'dead'], 'It must be running or paused.'],
    [['ls', '--metadata', 'novalue'], 'It must be key=value.'],
    [['kill'], 'name the sandboxes, or select them with --all'],
    [['kill', 'x', '--template', 'base'], 'filters need --all'],
    [['resume', 'x', '--timeout', 'long'], 'It must be a whole number of seconds.'],
    [['logs', '-n', '-1'], 'It must be a whole number.'],
    [['keys', 'create', ' '], 'It must have 1 to 128 characters.'],
    [['cp', 'a', 'b'], 'exactly one of the two paths must be <id>:<path>'],
    [['cp', `${ID}:a`, `${ID}:b`], 'exactly one of the two paths must be <id>:<path>'],
    [['env', '--shell', 'csh'], 'Allowed choices are sh, fish, powershell, dotenv'],
    [['connect', ID], 'This command needs a terminal'],
    [['exec', '--tty', ID, '--', 'top'], 'This command needs a terminal'],
  ])('ends with 2 and a sentence for %j', async (args, sentence) => {
    const { code, stdout, stderr } = await sandyard(args, { E2B_API_KEY: KEY })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(sentence)
  })

  it.each([
    [{ SANDYARD_API_PORT: 'many' }, 'SANDYARD_API_PORT must be a port from 0 to 65535, not "many"'],
    [{ E2B_API_URL: 'ftp://x' }, 'E2B_API_URL is not a URL of http or https'],
    [{ SANDYARD_API_PORT: '0' }, 'SANDYARD_API_PORT is 0, so only the server knows its port: set E2B_API_URL'],
  ])('ends with 2 for the setting %j and names it', async (settings, sentence) => {
    const { code, stderr } = await sandyard(['ls'], { E2B_API_KEY: KEY, ...settings })
    expect(code).toBe(2)
    expect(stderr).toContain(sentence)
  })

  it('ends with 4 when there is no key', async () => {
    const { code, stderr } = await sandyard(['ls'])
    expect(code).toBe(4)
    expect(stderr).toContain('There is no API key')
  })

  it('ends with 5 when a command needs the database of a server that does not run', async () => {
    const { code, stderr } = await sandyard(['keys', 'list'])
    expect(code).toBe(5)
    expect(stderr).toContain('start the server, or set DATABASE_URL')
  })
})

describe('sandyard env', () => {
  const settings = {
    E2B_API_KEY: KEY,
    E2B_API_URL: 'http://127.0.0.1:3000',
    E2B_SANDBOX_URL: 'http://127.0.0.1:3002',
    E2B_VOLUME_API_URL: 'http://127.0.0.1:3000',
  }

  it.each([
    ['sh', Object.entries(settings).map(([name, value]) => `export ${name}=${value}`)],
    ['fish', Object.entries(settings).map(([name, value]) => `set -gx ${name} '${value}'`)],
    ['powershell', Object.entries(settings).map(([name, value]) => `$env:${name} = '${value}'`)],
    ['dotenv', Object.entries(settings).map(([name, value]) => `${name}=${value}`)],
  ])('prints a line for each setting for %s and nothing else', async (shell, lines) => {
    const result = await sandyard(['env', '--shell', shell], { E2B_API_KEY: KEY })
    expect(result).toEqual({ code: 0, stdout: `${lines.join('\n')}\n`, stderr: '' })
  })

  it('prints JSON', async () => {
    expect(JSON.parse((await sandyard(['env', '--json'], { E2B_API_KEY: KEY })).stdout)).toEqual(settings)
  })

  it('takes the key from .sandyard above the working directory, and the ports from the settings', async () => {
    const below = join(folder, 'project', 'a', 'b')
    mkdirSync(below, { recursive: true })
    mkdirSync(join(folder, 'project', '.sandyard'))
    writeFileSync(join(folder, 'project', '.sandyard', 'credentials'), `E2B_API_KEY=${KEY}\nE2B_ACCESS_TOKEN=${TOKEN}\n`)
    const ports = { SANDYARD_API_PORT: '4000', SANDYARD_PROXY_PORT: '4002', SANDYARD_BIND: '0.0.0.0' }
    const { stdout } = await sandyard(['env', '--json'], ports, below)
    expect(JSON.parse(stdout)).toEqual({
      E2B_API_KEY: KEY,
      E2B_API_URL: 'http://127.0.0.1:4000',
      E2B_SANDBOX_URL: 'http://127.0.0.1:4002',
      E2B_VOLUME_API_URL: 'http://127.0.0.1:4000',
    })
  })

  it('prints the public URLs of a server behind TLS, and the given ones before all others', async () => {
    const behindTls = {
      E2B_API_KEY: KEY,
      SANDYARD_API_URL: 'https://api.example.com:8443/',
      SANDYARD_DOMAIN: 'example.com:8443',
      SANDYARD_PROXY_INTERNAL_URL: 'http://proxies:3002',
    }
    expect(JSON.parse((await sandyard(['env', '--json'], behindTls)).stdout)).toMatchObject({
      E2B_API_URL: 'https://api.example.com:8443',
      E2B_SANDBOX_URL: 'https://sandbox.example.com:8443',
    })
    const given = { E2B_API_URL: 'http://10.0.0.1:3000', E2B_SANDBOX_URL: 'http://10.0.0.1:3002' }
    expect(JSON.parse((await sandyard(['env', '--json'], { ...behindTls, ...given })).stdout)).toMatchObject(given)
  })

  it.each([
    ['sh', String.raw`export E2B_API_KEY='a'\''b$c'`],
    ['fish', String.raw`set -gx E2B_API_KEY 'a\'b$c'`],
    ['powershell', `$env:E2B_API_KEY = 'a''b$c'`],
    ['dotenv', String.raw`E2B_API_KEY="a'b\$c"`],
  ])('quotes what %s would read as something else', async (shell, line) => {
    const { stdout } = await sandyard(['env', '--shell', shell], { E2B_API_KEY: "a'b$c" })
    expect(stdout.split('\n')[0]).toBe(line)
  })
})

describe('sandyard completion', () => {
  const complete = async (...words: string[]): Promise<string[]> => {
    const { code, stdout, stderr } = await sandyard(['__complete', '--', ...words])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    return stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')[0] ?? '']))
  }

  it('knows the commands, their options and the values of options, from the tree itself', async () => {
    expect(await complete('st')).toEqual(['status'])
    expect(await complete('')).not.toContain('__complete')
    expect(await complete('keys', 're')).toEqual(['rename', 'revoke'])
    expect(await complete('ls', '--st')).toEqual(['--state'])
    expect(await complete('ls', '--j')).toEqual(['--json'])
    expect(await complete('env', '--shell', '')).toEqual(['sh', 'fish', 'powershell', 'dotenv'])
    expect(await complete('--json', 'env', '--shell', 'd')).toEqual(['dotenv'])
    expect(await complete('completion', '')).toEqual(['bash', 'zsh', 'fish'])
  })

  it('leaves files to the shell, and has nothing where nothing can stand', async () => {
    expect(await complete('cp', './')).toEqual([':files'])
    expect(await complete('exec', ID, '--', 'l')).toEqual([':files'])
    expect(await complete('version', 'x')).toEqual([])
  })

  it('is silent when no server can be asked for ids', async () => {
    expect(await complete('info', '')).toEqual([])
    expect(await complete('keys', 'revoke', '')).toEqual([])
  })

  it('is described in help, but not its hidden part', async () => {
    const { stdout } = await sandyard(['--help'])
    expect(stdout).toContain('completion <shell>')
    expect(stdout).not.toContain('__complete')
  })
})
