import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { containerProcess, type ContainerCommand } from '../src/containers/container-process.ts'

let folder: string
let root: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'process-'))
  root = join(folder, 'root')
  for (const name of ['root/etc', 'root/srv', 'root/workspaces', 'project/src']) await mkdir(join(folder, name), { recursive: true })
  await writeFile(join(root, 'etc/passwd'), 'dev:x:1234:99::/home/dev:/bin/sh\n')
  await symlink('/workspaces/p/src', join(root, 'srv/link'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const start = (options: Partial<ContainerCommand>, config = {}): ReturnType<typeof containerProcess> =>
  containerProcess(
    {
      id: 'abc',
      name: 'n',
      createdAt: '',
      image: 'i',
      imageId: 's',
      config,
      mounts: [{ type: 'bind', source: join(folder, 'project'), target: '/workspaces/p' }],
    },
    { proot: '/proot', root, outerEnvironment: {}, command: ['true'], endsAll: false, ...options },
  )

describe('containerProcess', () => {
  it('has the id and the home of its user, and the variables of image, command and proxy in their order', async () => {
    const outerEnvironment = { HTTP_PROXY: 'http://proxy', https_proxy: 'outer', OTHER: 'not passed on' }
    const { words, environment } = await start(
      { user: 'dev', environment: { B: 'command' }, outerEnvironment },
      { Env: ['B=image', 'https_proxy=own'] },
    )
    expect(words.join(' ')).toContain('-i 1234:99 ')
    expect(environment).toMatchObject({ HOME: '/home/dev', B: 'command', HTTP_PROXY: 'http://proxy', https_proxy: 'own' })
    expect(environment).not.toHaveProperty('OTHER')
  })

  it.each(['/srv', '/workspaces/p/src', '/srv/link', '/proc/self', ''])(
    'starts in the folder %j, also of a mount and behind a link',
    async (workingDirectory) => {
      await expect(start({ workingDirectory })).resolves.toBeDefined()
    },
  )

  it.each(['/none', '/workspaces/p/none', '/workspaces/project'])('refuses the folder %s, which is not there', async (workingDirectory) => {
    await expect(start({ workingDirectory })).rejects.toThrow(`The dev container has no folder ${workingDirectory}`)
  })

  it('refuses a user that the image does not have', async () => {
    await expect(start({ user: 'none' })).rejects.toThrow("The image has no user 'none'")
  })
})
