import { Sandbox, Template } from 'e2b'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { install } from './support/install.ts'

const BUILD_MS = 900_000
const NAME = 'devcontainer-project'
const FOLDER = '/home/user/project'

const lines: string[] = []
let sandbox: Sandbox
beforeAll(async () => {
  await install('devcontainer')
  const template = Template({ fileContextPath: import.meta.dirname })
    .fromTemplate('devcontainer')
    .aptInstall(['docker-registry', 'busybox-static'])
    .copy('devcontainer-project', FOLDER)
    .runCmd(`sh ${FOLDER}/make-image.sh`, { user: 'root' })
    .betaDevContainerPrebuild(FOLDER)
    .betaSetDevContainerStart(FOLDER)
  await Template.build(template, NAME, { cpuCount: 2, memoryMB: 1024, onBuildLogs: ({ message }) => lines.push(message) })
  sandbox = await Sandbox.create(NAME)
}, BUILD_MS)
afterAll(async () => sandbox?.kill())

const run = (command: string, user: 'user' | 'root' = 'user') => sandbox.commands.run(command, { user, timeoutMs: 60_000 })

describe('a template with betaDevContainerPrebuild and betaSetDevContainerStart', () => {
  it('has built the image of the dev container before it starts it', () => {
    const log = lines.join('\n')
    expect(log).toContain('RUN chmod -R 0755 /tmp/dev-container-features/greeter_0')
    expect(log).toContain('"outcome":"success"')
  })

  it('starts the dev container with its sandbox', async () => {
    // The mark of the start command is in the template already, so the create does not wait for this start.
    const exitCode = () =>
      run('/devcontainer.sh true').then(
        (result) => result.exitCode,
        (failure: { exitCode?: number }) => failure.exitCode,
      )
    await expect.poll(exitCode, { timeout: 150_000 }).toBe(0)
  })

  it('runs commands in the file system of the image, with its feature, its user and its variables', async () => {
    const { stdout } = await run(
      `/devcontainer.sh sh -c 'cat /etc/marker; greet; id -un; echo "$GREETING, $GREETER"; pwd; cat created.txt'`,
    )
    expect(stdout.trim().split('\n')).toEqual(['from the image', 'greetings Sam', 'dev', 'hi there, on', '/workspaces/project', 'dev'])
  })

  it('has the folder of the sandbox as its workspace', async () => {
    await sandbox.files.write(`${FOLDER}/from-outside.txt`, 'outside')
    const { stdout } = await run(`/devcontainer.sh sh -c 'cat from-outside.txt; echo inside > from-inside.txt'`)
    expect([stdout, await sandbox.files.read(`${FOLDER}/from-inside.txt`)]).toEqual(['outside', 'inside\n'])
  })

  it('passes on exit codes and input', async () => {
    await expect(run(`/devcontainer.sh sh -c 'exit 7'`)).rejects.toMatchObject({ exitCode: 7 })
    // Not the code of the last program that ended in order.
    await expect(run(`/devcontainer.sh sh -c 'ls /; kill -KILL $$'`)).rejects.toMatchObject({ exitCode: 137 })
    expect((await run(`echo 'echo from a shell' | /devcontainer.sh`)).stdout).toBe('from a shell\n')
  })

  it('has pipes as output, and keeps what a command has left in the background', async () => {
    const { stderr } = await run(`/devcontainer.sh sh -c 'sleep 4322 & echo seen > /dev/stderr'`)
    expect(stderr).toContain('seen')
    // The first one is of postStartCommand.
    for (const seconds of [4321, 4322]) expect((await run(`pgrep -c -fx 'sleep ${seconds}'`)).stdout).toBe('1\n')
  })

  it('refuses a folder that it does not have', async () => {
    const wrong = `sudo env PATH=/opt/devcontainer/engine:$PATH sh -c 'docker exec -w /none $(docker ps -q) pwd'`
    await expect(run(wrong)).rejects.toMatchObject({ exitCode: 1, stderr: 'Error: The dev container has no folder /none\n' })
  })

  it('starts again after its main process was killed', async () => {
    await run('pkill -KILL -x proot', 'root')
    await expect(run('/devcontainer.sh true')).rejects.toMatchObject({ exitCode: 1 })
    await run(`devcontainer up --workspace-folder ${FOLDER}`, 'root')
    expect((await run('/devcontainer.sh cat /etc/marker')).stdout).toBe('from the image\n')
  })
})

describe('a dev container that asks for what a sandbox does not have', () => {
  const up = (configuration: object, folder: string) =>
    run(
      `mkdir -p ${folder}/.devcontainer && echo '${JSON.stringify(configuration)}' > ${folder}/.devcontainer/devcontainer.json && ` +
        `devcontainer up --workspace-folder ${folder} 2>&1`,
      'root',
    ).then(
      ({ stdout }) => ({ exitCode: 0, stdout }),
      (failure: { exitCode: number; stdout: string }) => failure,
    )

  it.each([
    ['a privileged one', { image: 'localhost:5000/busybox:1', privileged: true }, 'the option --privileged is not supported'],
    ['one of a Compose file', { dockerComposeFile: 'compose.yml', service: 'a' }, 'dev containers of Compose files are not supported'],
    [
      'an image of a registry that is not reached',
      { image: 'registry.invalid/a:1' },
      'The image registry.invalid/a:1 could not be fetched',
    ],
  ])('refuses %s with a sentence', async (_, configuration, sentence) => {
    const folder = `/tmp/${Object.values(configuration)[0]?.toString().replaceAll(/\W/g, '')}`
    await run(`mkdir -p ${folder}/.devcontainer && echo 'services: { a: { image: a } }' > ${folder}/.devcontainer/compose.yml`, 'root')
    const { exitCode, stdout } = await up(configuration, folder)
    expect(stdout).toContain(sentence)
    expect(exitCode).toBe(1)
  })
})
