import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureDaemonDist } from '../build/dist.ts'
import { docker } from './support/daemon-container.ts'
import { tar } from './support/image-root.ts'
import { createScratchDirectory } from './support/scratch-directory.ts'

/** An image with one static program, which is also the shell, and the account root. */
const BUSYBOX = `
FROM debian:bookworm-slim AS parts
RUN apt-get update && apt-get install --yes --no-install-recommends busybox-static && rm -rf /var/lib/apt/lists/*
RUN mkdir -p /image/bin /image/etc && echo 'root:x:0:0:root:/:/bin/sh' > /image/etc/passwd && cp /bin/busybox /image/bin/ && ln -s busybox /image/bin/sh
FROM scratch
COPY --from=parts /image/ /
`
/** Package mirrors may be slow. */
const MIRROR_TIMEOUT_MS = 400_000
const NO_SHELL = 'FROM scratch\nENV nothing=\n'

describe('the image tool in containers', () => {
  const stack = new AsyncDisposableStack()
  let options: readonly string[] = []
  let tool: readonly string[] = []

  beforeAll(async () => {
    const { dir } = await ensureDaemonDist()
    const manifest = JSON.parse(await readFile(join(dir, 'dist.json'), 'utf8')) as { mount: string; imageTool: string[] }
    const given = stack.use(await createScratchDirectory())
    await writeFile(join(given.path, 'a.tgz'), gzipSync(await tar([{ name: 'a/f', body: 'copied\n', mode: 0o640 }])))
    options = ['--rm', '--volume', `${dir}:${manifest.mount}:ro`, '--volume', `${given.path}:/given:ro`]
    tool = manifest.imageTool
  })
  afterAll(() => stack.disposeAsync())

  /** The tool's command, quoted for the shell. */
  const call = (command: string, request: object): string => `${tool.join(' ')} ${command} '${JSON.stringify(request)}'`
  const run = async (image: string, ...script: readonly string[]): Promise<string[]> =>
    (await docker('run', ...options, image, '/bin/sh', '-e', '-c', script.join('\n'))).split('\n')

  /** The engine caches the image for the next run. */
  async function build(name: string, dockerfile: string): Promise<string> {
    const building = promisify(execFile)('docker', ['build', '--quiet', '--tag', `sandyard/test-${name}`, '-'])
    building.child.stdin?.end(dockerfile)
    await building
    return `sandyard/test-${name}`
  }

  const provision = (): string => call('provision', { user: 'user', installPackages: true })
  const copy = (source = 'a', destination = 'to'): string =>
    call('copy', { archive: '/a.tgz', source, destination, workdir: null, user: 'user', owner: '', mode: '' })

  it('prepares a Debian image: account, sudo without a password, programs, files', { timeout: MIRROR_TIMEOUT_MS }, async () => {
    const lines = await run(
      'debian:bookworm-slim',
      provision(),
      'echo provisioned',
      `test "$(${provision()})" = ""`,
      call('add-user', { name: 'other', sudo: true }),
      call('make-directory', { path: '/srv/a/b', user: 'other' }),
      'cp /given/a.tgz /a.tgz',
      copy(),
      call('finalize', { user: 'user' }),
      `su user -c 'id -u; echo "$HOME"; sudo -n id -un; cat "$HOME/to/f"; touch /code/x /usr/local/bin/x'`,
      `su other -c 'sudo -n id -un'`,
      `stat --format '%U %a' /srv/a/b /home/user /home/user/to/f /code`,
      'for program in curl git less jq socat ss ping ps; do command -v $program > /dev/null || echo "no $program"; done',
      'ls -A / | grep sandyard || true',
    )
    expect(lines.slice(lines.indexOf('provisioned') + 1)).toEqual([
      '1000',
      '/home/user',
      'root',
      'copied',
      'root',
      'other 755',
      'user 755',
      'user 640',
      'root 777',
    ])
  })

  it('serves an image that has one static program and no account', async () => {
    const lines = await run(
      await build(`image-tool-busybox`, BUSYBOX),
      provision(),
      'busybox cp /given/a.tgz /a.tgz',
      copy(),
      // The engine mounts this file.
      'busybox cp /given/a.tgz /a.tgz',
      copy('a/f', '/etc/hosts'),
      call('finalize', { user: 'user' }),
      'busybox cat /home/user/to/f /etc/hosts',
      `busybox su user -c '/bin/bash -l -c "echo \\$BASH_VERSION \\$HOME"'`,
      'busybox stat -c "%U %a" /home/user /home/user/to/f /tmp',
    )
    expect(lines).toEqual([
      'warning: sudo could not be installed: the image has no package manager that is known',
      expect.stringMatching(/^warning: not installed: curl, .*: the image has no package manager that is known$/),
      'copied',
      'copied',
      expect.stringMatching(/^5\..* \/home\/user$/),
      'user 755',
      'user 640',
      'root 1777',
    ])
  })

  it('reports a failure in one line', async () => {
    const image = await build('image-tool-no-shell', NO_SHELL)
    const name = `sandyard-image-tool-${randomUUID().slice(0, 8)}`
    const failing = docker('run', '--name', name, ...options, image, ...tool, 'provision', '{"user":"user"}')
    await expect(failing).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'the image has no /bin/sh: templates are made of images with a shell\n',
    })
  })
})
