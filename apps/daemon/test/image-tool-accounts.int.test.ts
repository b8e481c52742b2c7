import { chmod, lstat, readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ImageRoot } from './support/image-root.ts'

const DEBIAN = {
  'etc/passwd': 'root:x:0:0:root:/root:/bin/bash\nnode:x:1000:1000::/home/node:/bin/bash',
  'etc/group': 'root:x:0:\nsudo:x:27:admin\nnode:x:1000:\nother:x:1001:\n',
  'etc/shadow': 'root:*:19000:0:99999:7:::\n',
  'etc/gshadow': 'root:*::\n',
  'etc/sudoers': 'root ALL=(ALL:ALL) ALL\n@includedir /etc/sudoers.d\n',
  'etc/skel/.bashrc': '# of the image\n',
  'etc/skel/.profile': '# of the image\n',
  'etc/skel/.config/tool': 'x\n',
}
const SHELL = { 'bin/sh': '', 'volume/bin/bash': '' }

describe('add-user', () => {
  it('creates an account with the next free ids and the skeleton of the image', async () => {
    await using image = await ImageRoot.create(DEBIAN)
    await chmod(join(image.path, 'etc/shadow'), 0o600)
    await symlink('../skel-link', join(image.path, 'etc/skel/link'))
    await image.run('add-user', { name: 'user' })
    await image.run('add-user', { name: 'user' })
    expect(await image.read('etc/passwd')).toBe(`${DEBIAN['etc/passwd']}\nuser:x:1001:1002::/home/user:/bin/bash\n`)
    expect(await image.read('etc/group')).toBe(`${DEBIAN['etc/group']}user:x:1002:\n`)
    expect(await image.read('etc/shadow')).toBe(`${DEBIAN['etc/shadow']}user:*::0:99999:7:::\n`)
    expect(await image.read('etc/gshadow')).toBe(`${DEBIAN['etc/gshadow']}user:!::\n`)
    expect((await lstat(join(image.path, 'etc/shadow'))).mode & 0o777).toBe(0o600)
    expect(await image.list('home')).toEqual([
      'user/ 755 1001:1002',
      'user/.bashrc 644 1001:1002 = # of the image\n',
      'user/.config/ 755 1001:1002',
      'user/.config/tool 644 1001:1002 = x\n',
      'user/.profile 644 1001:1002 = # of the image\n',
      'user/link 1001:1002 -> ../skel-link',
    ])
    expect(await readdir(join(image.path, 'etc'))).not.toContain('sudoers.d')
  })

  it('creates an account in an image without accounts, and start files in an image without a skeleton', async () => {
    await using image = await ImageRoot.create({ 'etc/hostname': 'h' })
    await image.run('add-user', { name: 'user' })
    expect(await image.read('etc/passwd')).toBe('root:x:0:0:root:/root:/bin/sh\nuser:*:1000:1000::/home/user:/bin/bash\n')
    expect(await image.read('etc/group')).toBe('root:x:0:\nuser:x:1000:\n')
    expect(await readdir(join(image.path, 'home/user'))).toEqual(['.bashrc', '.profile'])
  })

  it('grants sudo to new and existing accounts, with and without sudo in the image', async () => {
    await using image = await ImageRoot.create(DEBIAN)
    await image.run('add-user', { name: 'node', sudo: true })
    expect(image.lines).toEqual(["warning: 'node' may use sudo, but the image has none"])
    await image.write('usr/bin/sudo', '', 0o755)
    await image.run('add-user', { name: 'a.b', sudo: true })
    expect(image.lines).toHaveLength(1)
    expect(await image.list('etc/sudoers.d')).toEqual([
      expect.stringMatching(/^sandyard 440 0:0 = Defaults env_keep \+= "HTTP_PROXY .* SSL_CERT_FILE"\n$/),
      'sandyard-a-2e-b 440 0:0 = a.b ALL=(ALL:ALL) NOPASSWD: ALL\n',
      'sandyard-node 440 0:0 = node ALL=(ALL:ALL) NOPASSWD: ALL\n',
    ])
    expect(await image.read('etc/group')).toContain('sudo:x:27:admin,node,a.b\n')
    expect(await image.read('etc/sudoers')).toBe(DEBIAN['etc/sudoers'])
  })

  it('includes /etc/sudoers.d if the image does not', async () => {
    await using image = await ImageRoot.create({ ...DEBIAN, 'etc/sudoers': 'root ALL=(ALL:ALL) ALL' })
    for (const name of ['x', 'y']) await image.run('add-user', { name, sudo: true })
    expect(await image.read('etc/sudoers')).toBe('root ALL=(ALL:ALL) ALL\n#includedir /etc/sudoers.d\n')
  })

  it.for(['', '1000', 'a:b', '../x', 'a\nb', '-x', 'x'.repeat(33)])('refuses %j as the name of a new account', async (name) => {
    await using image = await ImageRoot.create(DEBIAN)
    await expect(image.run('add-user', { name })).rejects.toThrow(`'${name}' is not the name of an account, and cannot become one`)
    expect(await image.read('etc/passwd')).toBe(DEBIAN['etc/passwd'])
  })
})

describe('make-directory', () => {
  it('creates missing directories for the account and does not change the others', async () => {
    await using image = await ImageRoot.create(DEBIAN)
    await image.write('srv/file', '')
    await image.run('make-directory', { path: '/srv/./a/../b/c/', user: 'node' })
    expect(await image.list('srv')).toEqual(['b/ 755 1000:1000', 'b/c/ 755 1000:1000', 'file 644 0:0 = '])
    expect(await image.list('.')).toContain('srv/ 755 0:0')
    await expect(image.run('make-directory', { path: '/srv/file/x', user: 'node' })).rejects.toThrow("'/srv/file' is not a directory")
    await expect(image.run('make-directory', { path: '/x', user: 'ghost' })).rejects.toThrow("the user 'ghost' does not exist in the image")
    await expect(image.run('make-directory', { path: 'x', user: 'node' })).rejects.toThrow("'x' is no absolute path")
  })
})

describe('provision and finalize', () => {
  it('turns an image with only a shell into what clients expect', async () => {
    await using image = await ImageRoot.create(SHELL)
    for (const installPackages of [false, false]) await image.run('provision', { user: 'user', installPackages })
    expect((await image.list('.')).filter((line) => !line.startsWith('home/user/'))).toEqual([
      'bin/ 755 0:0',
      `bin/bash 0:0 -> ${image.path}/volume/bin/bash`,
      'bin/sh 644 0:0 = ',
      'etc/ 755 0:0',
      'etc/group 644 0:0 = root:x:0:\nuser:x:1000:\n',
      'etc/passwd 644 0:0 = root:x:0:0:root:/root:/bin/sh\nuser:*:1000:1000::/home/user:/bin/bash\n',
      'home/ 755 0:0',
      'root/ 700 0:0',
      'tmp/ 1777 0:0',
      'usr/ 755 0:0',
      'usr/local/ 755 0:0',
      'var/ 755 0:0',
      'var/tmp/ 1777 0:0',
      'volume/ 755 0:0',
      'volume/bin/ 755 0:0',
      'volume/bin/bash 644 0:0 = ',
    ])
    expect(image.lines).toEqual([])
  })

  it('prefers the own bash of the image, and reports if there is none at all', async () => {
    await using image = await ImageRoot.create(SHELL)
    await image.write('usr/local/bin/bash', '', 0o755)
    await image.run('provision', { user: 'user' })
    expect(await image.list('bin')).toContain('bash 0:0 -> /usr/local/bin/bash')
    await using bare = await ImageRoot.create({ 'bin/sh': '' })
    await bare.run('provision', { user: 'user' })
    expect(bare.lines).toEqual(['warning: the image has no bash, and none could be provided: commands that need it will fail'])
  })

  it('refuses an image without a shell', async () => {
    await using image = await ImageRoot.create({})
    await expect(image.run('provision', { user: 'user' })).rejects.toThrow(
      'the image has no /bin/sh: templates are made of images with a shell',
    )
    expect(await image.list('.')).toEqual([])
  })

  it('configures the result of a build and removes its temporary files', async () => {
    await using image = await ImageRoot.create({
      ...DEBIAN,
      'usr/local/bin/tool': '',
      'usr/bin/sudo': '',
      '.sandyard-unpacked-x/y': '',
      '.sandyard-x.tar': '',
      'home/user/of-root': '',
    })
    await chmod(join(image.path, 'usr/bin/sudo'), 0o755)
    await chmod(join(image.path, 'usr/local/bin'), 0o2755)
    for (const name of ['user', 'user']) await image.run('finalize', { user: name })
    const lines = await image.list('.')
    expect(lines).toEqual(
      expect.arrayContaining(['code/ 777 0:0', 'usr/local/ 777 0:0', 'usr/local/bin/ 2777 0:0', 'usr/local/bin/tool 644 0:0 = ']),
    )
    expect(lines).toEqual(expect.arrayContaining(['home/user/ 755 1001:1002', 'home/user/of-root 644 0:0 = ']))
    expect(lines).toContain('etc/sudoers.d/sandyard-user 440 0:0 = user ALL=(ALL:ALL) NOPASSWD: ALL\n')
    expect(lines.filter((line) => line.startsWith('.'))).toEqual([])
  })
})

it.for<[string, string, object]>([
  ["there is no command 'x'", 'x', {}],
  ["there is no command 'toString'", 'toString', {}],
  ["'name' is missing", 'add-user', {}],
  ["'name' is no text", 'add-user', { name: 1 }],
  ["'sudo' is neither true nor false", 'add-user', { name: 'x', sudo: 'yes' }],
])('refuses an invalid request: %s', async ([message, command, request]) => {
  await using image = await ImageRoot.create({})
  await expect(image.run(command, request)).rejects.toThrow(message)
})
