import { AuthenticationError, CommandExitError, InvalidArgumentError, type CommandResult, type Sandbox } from 'e2b'
import { describe, expect, test } from 'vitest'
import { withSandbox } from '../support/with-sandbox.ts'

describe('[process.Process/Start]', () => {
  test('returns an empty stdout and stderr and exit code 0 for a command without output', async () => {
    await withSandbox(async ({ commands }) => {
      expect(await commands.run('true')).toMatchObject({ stdout: '', stderr: '', exitCode: 0 })
    })
  })

  test('reports each kind of unsuccessful end with its output', async () => {
    await withSandbox(async ({ commands }) => {
      const ends = [
        { command: 'echo a; echo b >&2; exit 1', exitCode: 1, error: 'exit status 1', stdout: 'a\n', stderr: 'b\n' },
        { command: 'exit 255', exitCode: 255, error: 'exit status 255' },
        { command: 'no-such-command-here', exitCode: 127, error: 'exit status 127', stderr: expect.stringContaining('not found') },
        { command: '/etc/passwd', exitCode: 126, error: 'exit status 126', stderr: expect.stringContaining('Permission denied') },
        { command: 'kill -TERM $$', exitCode: -1, error: 'signal: terminated' },
        { command: 'kill -KILL $$', exitCode: -1, error: 'signal: killed' },
        { command: '(kill -KILL $BASHPID); exit $?', exitCode: 137, error: 'exit status 137' },
      ]
      for (const { command, ...end } of ends) {
        const error = await commands.run(command).catch((error: unknown) => error)
        expect(error, command).toBeInstanceOf(CommandExitError)
        expect(error, command).toMatchObject(end)
      }
    })
  })

  test('passes a command to the shell unchanged', async () => {
    const command = `printf '%s|' "a  b" 'c"d' '$HOME' "\\\\n" 'tab\there' 'ünïcode 日本 🚀' "two\nlines" '*' ''`
    await withSandbox(async ({ commands }) => {
      expect((await commands.run(command)).stdout).toBe('a  b|c"d|$HOME|\\n|tab\there|ünïcode 日本 🚀|two\nlines|*||')
    })
  })

  test('runs in the home directory, in a path relative to it, or in an absolute path; refuses a missing directory', async () => {
    await withSandbox(async ({ commands, files }) => {
      await files.makeDir('work/deep')
      expect((await commands.run('pwd')).stdout).toBe('/home/user\n')
      expect((await commands.run('pwd', { cwd: 'work/deep' })).stdout).toBe('/home/user/work/deep\n')
      expect((await commands.run('pwd', { cwd: '~/work' })).stdout).toBe('/home/user/work\n')
      expect((await commands.run('pwd', { cwd: '/usr/lib' })).stdout).toBe('/usr/lib\n')
      const refusal = await commands.run('pwd', { cwd: '/no/such/place' }).catch((error: unknown) => error)
      expect(refusal).toBeInstanceOf(InvalidArgumentError)
      expect(String(refusal)).toContain("cwd '/no/such/place' does not exist")
    })
  })

  test('runs a command without input by default', async () => {
    await withSandbox(async ({ commands }) => {
      expect((await commands.run('cat; echo "read: $(read x; echo $?)"')).stdout).toBe('read: 1\n')
    })
  })

  test('runs a command with pipes that it can open by name', async () => {
    await withSandbox(async ({ commands }) => {
      const result = await commands.run('echo one > /dev/stdout; echo two > /dev/stderr; echo three | tee /dev/stderr', {
        user: 'root',
      })
      expect(result).toMatchObject({ stdout: 'one\nthree\n', stderr: 'two\nthree\n' })
    })
  })

  test('runs fifty commands at once, each with its own output', async () => {
    await withSandbox(async ({ commands }) => {
      const numbers = Array.from({ length: 50 }, (_, index) => index)
      const results = await Promise.all(numbers.map((number) => commands.run(`echo ${number}; echo e${number} >&2`)))
      expect(results.map(({ stdout, stderr }) => stdout + stderr)).toEqual(numbers.map((number) => `${number}\ne${number}\n`))
    })
  })
})

describe('[process.Process/Start] users', () => {
  test('runs as the default user, as root, or as a new user, with the home, groups and rights of that user', async () => {
    const whoAmI = 'echo "$(whoami) $(id -u) $HOME $USER $LOGNAME"; test -r /etc/shadow && echo reads-shadow || echo no'
    await withSandbox(async ({ commands }) => {
      expect((await commands.run(whoAmI)).stdout).toMatch(/^user \d+ \/home\/user user user\nno\n$/)
      expect((await commands.run(whoAmI, { user: 'root' })).stdout).toBe('root 0 /root root root\nreads-shadow\n')
      await commands.run('groupadd crew && useradd -m -s /bin/bash -G crew ada', { user: 'root' })
      expect((await commands.run(whoAmI, { user: 'ada' })).stdout).toMatch(/^ada \d+ \/home\/ada ada ada\nno\n$/)
      expect((await commands.run('id -nG', { user: 'ada' })).stdout).toBe('ada crew\n')
    })
  })

  test('the default user may use sudo without a password', async () => {
    await withSandbox(async ({ commands }) => {
      expect((await commands.run('sudo -n whoami')).stdout).toBe('root\n')
    })
  })

  test('refuses a user that does not exist', async () => {
    await withSandbox(async ({ commands }) => {
      const refusal = await commands.run('true', { user: 'nobody-here' }).catch((error: unknown) => error)
      expect(refusal).toBeInstanceOf(AuthenticationError)
      expect(String(refusal)).toContain("invalid username: 'nobody-here'")
    })
  })
})

describe('[process.Process/Start] environment', () => {
  test('sets the variables of a command for that command only, and those of the sandbox for all', async () => {
    const envs = { SCOPE: 'sandbox', COMMON: 'ünï "quoted"\nsecond line' }
    await withSandbox(
      async ({ commands }) => {
        const show = 'printf "%s|%s|%s" "$SCOPE" "$COMMON" "$OWN"'
        const all: [Promise<CommandResult>, Promise<CommandResult>] = [
          commands.run(show, { envs: { SCOPE: 'command', OWN: '1' } }),
          commands.run(show, { user: 'root' }),
        ]
        const [own, other] = await Promise.all(all)
        expect(own.stdout).toBe(`command|${envs.COMMON}|1`)
        expect(other.stdout).toBe(`sandbox|${envs.COMMON}|`)
      },
      { envs },
    )
  })

  test('sets the ids of the sandbox, and no variables of the server', async () => {
    await withSandbox(async (sandbox) => {
      const variables = await environment(sandbox)
      expect(variables).toMatchObject({ HOME: '/home/user', USER: 'user', LOGNAME: 'user', E2B_SANDBOX: 'true' })
      expect(variables['E2B_SANDBOX_ID']).toBe(sandbox.sandboxId)
      expect(variables['E2B_TEMPLATE_ID']).toBe((await sandbox.getInfo()).templateId)
      const names = Object.keys(variables).filter((name) => /^(SANDYARD|NODE|LD_|DOCKER|HOSTNAME)|TOKEN/.test(name))
      expect(names).toEqual([])
    })
  })
})

async function environment({ commands }: Sandbox): Promise<Record<string, string>> {
  const { stdout } = await commands.run('env -0')
  const entries = stdout.split('\0').filter((entry) => entry.includes('='))
  return Object.fromEntries(entries.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]))
}
