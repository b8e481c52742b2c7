import { Sandbox, Template } from 'e2b'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeContext } from '../support/build-context.ts'
import { buildTemplate, outputOf, removeTemplates, templateName, type Built } from '../support/templates.ts'

const operations = [
  '[POST /v3/templates] [GET /templates/{templateID}/files/{hash}] [POST /v2/templates/{templateID}/builds/{buildID}]',
  '[GET /templates/{templateID}/builds/{buildID}/status]',
].join(' ')

const name = templateName('steps')
let built: Built
let sandbox: Sandbox

/** One template with every kind of step, shared by all tests because each step is a layer. The unique name in the first step avoids cache hits. */
beforeAll(async () => {
  await using context = await makeContext({
    'one.txt': 'one\n',
    'two.txt': { text: 'two\n', mode: 0o640 },
    'app/main.sh': { text: '#!/bin/sh\necho ran\n', mode: 0o755 },
    'app/lib/a.txt': 'new\n',
    'app/lib/b.txt': 'b\n',
    'app/lib/c.md': 'c\n',
    'app/lib/.hidden': 'hidden\n',
    'app/link': { link: 'lib/a.txt' },
    'app/noise.log': 'noise\n',
    '.dockerignore': '# what nobody needs\n**/*.log\n',
  })
  built = await buildTemplate(describeTemplate(context.directory), name, { cpuCount: 1, memoryMB: 512 })
  sandbox = await Sandbox.create(name)
}, 400_000)

afterAll(async () => {
  await sandbox?.kill()
  await removeTemplates()
})

function describeTemplate(fileContextPath: string): Parameters<typeof buildTemplate>[0] {
  return Template({ fileContextPath })
    .fromImage('debian:bookworm-slim')
    .runCmd(`echo "$(id -un) in $(pwd), $(shopt -q login_shell && echo login)" # ${name}`)
    .runCmd(['echo first > several-commands', 'echo second >> several-commands'])
    .runCmd('echo "$(id -un) in $(pwd)" > /root/who', { user: 'root' })
    .setEnvs({ GREETING: 'Hello, World!', PLACE: '/opt/place' })
    .setEnvs({ NESTED: '${PLACE}/$GREETING', LITERAL: '$(id) `id` "q" \\n', GONE: '<$NO_SUCH_VARIABLE>' })
    .runCmd('printf "%s|%s|%s\\n" "$NESTED" "$LITERAL" "$GONE" | sudo tee /root/environment')
    .runCmd('mkdir -p -m 0700 app/lib && echo old > app/lib/a.txt && echo kept > app/lib/kept.txt')
    .copy('app', 'app')
    .copy('one.txt', 'as-file')
    .copy('one.txt', 'as-directory/')
    .copy('app/lib/*.txt', 'globbed')
    .copy(['one.txt', 'two.txt'], 'several/')
    .copyItems([
      { src: 'two.txt', dest: '/opt/place/two.txt', user: 'root', mode: 0o600 },
      { src: 'app/link', dest: 'followed', resolveSymlinks: true, gzip: false },
      { src: 'app/link', dest: 'not-followed' },
    ])
    .makeDir(['made', "it's made"], { mode: 0o750 })
    .rename('several/two.txt', 'several/renamed.txt')
    .makeSymlink('renamed.txt', 'several/link')
    .remove(['several/one.txt', 'several/not-there'], { force: true })
    .setWorkdir('work/area')
    .setWorkdir('inner')
    .copy('one.txt', '.')
    .setUser('builder')
    .copy('two.txt', '.')
    .runCmd('echo "$(id -un) in $(pwd), $HOME"')
}

describe(`${operations} a template of debian:bookworm-slim`, () => {
  test('runs commands as the user, in a login shell, in the home directory, or as another user', async () => {
    expect(outputOf(built)[0]).toBe('user in /home/user, login')
    expect(await readAsRoot('/home/user/several-commands')).toBe('first\nsecond\n')
    expect(await readAsRoot('/root/who')).toBe('root in /root\n')
  })

  test('expands variables in the values of variables, and takes everything else literally', async () => {
    const line = '/opt/place/Hello, World!|$(id) `id` "q" \\n|<>'
    expect(outputOf(built)[1]).toBe(line)
    expect(await readAsRoot('/root/environment')).toBe(`${line}\n`)
    const { stdout } = await sandbox.commands.run('printf "%s|%s|%s" "$NESTED" "$LITERAL" "$GONE"')
    expect(stdout).toBe(line)
  })

  test('copies files, directories, globs and links with the requested owner and mode', async () => {
    const listing = await sandbox.commands.run(`stat -c '%A %U:%G %N' ${PATHS.map((path) => `"${path}"`).join(' ')}`, {
      user: 'root',
      cwd: '/home/user',
    })
    expect(listing.stdout.trimEnd().split('\n')).toEqual([
      "drwx------ user:user 'app/lib'",
      "-rw-r--r-- user:user 'app/lib/a.txt'",
      "-rw-r--r-- user:user 'app/lib/kept.txt'",
      "-rw-r--r-- user:user 'app/lib/.hidden'",
      "-rwxr-xr-x user:user 'app/main.sh'",
      "lrwxrwxrwx user:user 'app/link' -> 'lib/a.txt'",
      "-rw-r--r-- user:user 'as-file'",
      "-rw-r--r-- user:user 'as-directory/one.txt'",
      "-rw-r--r-- user:user 'globbed/a.txt'",
      "-rw-r--r-- user:user 'globbed/b.txt'",
      "-rw-r----- user:user 'several/renamed.txt'",
      "lrwxrwxrwx user:user 'several/link' -> 'renamed.txt'",
      "-rw------- root:root '/opt/place/two.txt'",
      "-rw-r--r-- user:user 'followed'",
      "lrwxrwxrwx user:user 'not-followed' -> 'lib/a.txt'",
      "drwxr-x--- user:user 'made'",
      `drwxr-x--- user:user "it's made"`,
      "drwxr-xr-x user:user '/work/area'",
      "drwxr-xr-x user:user '/work/area/inner'",
      "-rw-r--r-- user:user '/work/area/inner/one.txt'",
      "-rw-r----- builder:builder '/work/area/inner/two.txt'",
    ])
    const contents = await sandbox.commands.run(
      'cat app/lib/a.txt followed app/link several/link; app/main.sh; ls several globbed; ls app',
      {
        user: 'root',
        cwd: '/home/user',
      },
    )
    const lists = 'globbed:\na.txt\nb.txt\n\nseveral:\nlink\nrenamed.txt\nlib\nlink\nmain.sh\n'
    expect(contents.stdout).toBe(`new\nnew\nnew\ntwo\nran\n${lists}`)
  })

  test('sets its last user and directory as the defaults of its sandboxes', async () => {
    expect(outputOf(built).at(-1)).toBe('builder in /work/area/inner, /home/builder')
    const { stdout } = await sandbox.commands.run('echo "$(id -un) in $(pwd), $GREETING"')
    expect(stdout).toBe('builder in /work/area/inner, Hello, World!\n')
    await sandbox.files.write('/home/builder/written', '')
    expect(await sandbox.files.getInfo('/home/builder/written')).toMatchObject({ owner: 'builder' })
  })

  test('sets the requested processors and memory for its sandboxes', async () => {
    expect(await sandbox.getInfo()).toMatchObject({ name, cpuCount: 1, memoryMB: 512, templateId: built.templateId })
    const limits = await sandbox.commands.run(
      'cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/cpu.max /sys/fs/cgroup/cpu/cpu.cfs_quota_us 2>/dev/null; true',
    )
    expect(limits.stdout.split('\n')[0]).toBe(String(512 * 1024 * 1024))
    expect(limits.stdout.split('\n')[1]).toMatch(/^100000( 100000)?$/)
  })

  test('has an account with a home, skeleton files, bash and sudo without a password', async () => {
    const { stdout } = await sandbox.commands.run('sudo -n id -un; ls -A ~ | grep bashrc; getent passwd user', { user: 'user' })
    expect(stdout).toMatch(/^root\n\.bashrc\nuser:x:\d+:\d+:[^:]*:\/home\/user:\/bin\/bash\n$/)
    expect(await readAsRoot('/.e2b')).toContain(`TEMPLATE_ID=${built.templateId}`)
    expect(await readAsRoot('/.e2b')).toContain(`BUILD_ID=${built.buildId}`)
  })
})

const PATHS = [
  'app/lib app/lib/a.txt app/lib/kept.txt app/lib/.hidden app/main.sh app/link as-file as-directory/one.txt globbed/a.txt globbed/b.txt',
  'several/renamed.txt several/link /opt/place/two.txt followed not-followed made',
]
  .flatMap((line) => line.split(' '))
  .concat("it's made", '/work/area', '/work/area/inner', '/work/area/inner/one.txt', '/work/area/inner/two.txt')

async function readAsRoot(path: string): Promise<string> {
  return sandbox.files.read(path, { user: 'root' })
}
