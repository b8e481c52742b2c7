import { afterAll, beforeAll, expect, it } from 'vitest'
import type { BuildPlan, BuildStep } from '../src/builds/build-plan.ts'
import { BuildBench, imageWithPackages } from './support/build-bench.ts'

let bench: BuildBench
let source: BuildPlan['source']

beforeAll(async () => {
  bench = await BuildBench.open()
  source = { kind: 'image', reference: await imageWithPackages() }
})

afterAll(async () => {
  await bench[Symbol.asyncDispose]()
})

const step = (type: string, args: string[]): BuildStep => ({ type, args, force: false })
const run = (...args: string[]): BuildStep => step('RUN', args)

it('starts a command, waits until it is ready, and logs the lines in order', async () => {
  const startCmd =
    'trap "touch ~/stopped" EXIT; echo starting; sleep 1; echo "$MODE $PWD" > /tmp/ready; for i in {1..1000}; do sleep 1; done'
  const steps = [step('ENV', ['MODE', 'test']), step('WORKDIR', ['/srv'])]
  const { result, error, log } = await bench.build({ source, steps, startCmd, readyCmd: 'cat /tmp/ready' })
  expect(error).toBeUndefined()
  expect(result).toMatchObject({ startCmd, readyCmd: 'cat /tmp/ready', defaultWorkdir: '/srv' })
  const lines = log.filter(({ step }) => step === 'finalize').map(({ level, message }) => [level, message])
  const order = [
    ['info', `Running start command: ${startCmd}`],
    ['info', '[start] [stdout]: starting'],
    ['info', 'Waiting for template to be ready: cat /tmp/ready'],
    ['debug', '[ready] [stdout]: test /srv'],
    ['info', 'Template is ready'],
  ]
  expect(lines).toEqual(expect.arrayContaining(order))
  expect(lines.findIndex(([, message]) => message === order[0]?.[1])).toBeLessThan(
    lines.findIndex(([, message]) => message === order[2]?.[1]),
  )
  expect(lines.at(-1)).toEqual(order.at(-1))
  if (result !== undefined) expect(await bench.inSandbox(result, 'ls ~/stopped')).toBe('/home/user/stopped')
})

it('fails when the start command fails before it is ready', async () => {
  const { error } = await bench.build({ source, startCmd: 'sleep 1; exit 7', readyCmd: 'false' })
  expect(error).toMatchObject({ message: 'start command failed: exit status 7', step: 'finalize' })
})

it('inherits files, variables and the start command with its context from a template', async () => {
  const steps = [step('ENV', ['A', '1']), step('WORKDIR', ['/srv/app']), run('echo from the first > here')]
  const first = await bench.build({ source, steps, startCmd: 'echo "$A $B $PWD" > /tmp/started; sleep 1000', readyCmd: 'cat /tmp/started' })
  const buildId = await bench.publish(first.result)
  const second = await bench.build({
    source: { kind: 'template', reference: 'first', buildId },
    steps: [step('ENV', ['B', '2']), run('cat here; echo "$A $B $PWD"; cd /'), step('WORKDIR', ['/'])],
  })
  expect(second.error).toBeUndefined()
  expect(second.text).toMatch(/^CACHED \[base] FROM TEMPLATE first \[/m)
  expect(second.text).toMatch(/\[stdout]: from the first\n.*\[stdout]: 1 2 \/srv\/app\n/)
  expect(second.text).toMatch(/^\[ready] \[stdout]: 1 {2}\/srv\/app$/m)
  expect(second.result).toMatchObject({
    defaultUser: 'user',
    defaultWorkdir: '/',
    startCmd: first.result?.startCmd,
    startContext: { user: 'user', workdir: '/srv/app', env: { A: '1' } },
  })
})

it("starts a template's command before a create is answered, and fails a create whose command fails [POST /v2/sandboxes]", async () => {
  const startCmd = 'sleep 1; echo "$MODE $PWD" > /dev/shm/started; sleep 1000'
  const steps = [step('ENV', ['MODE', 'template']), step('WORKDIR', ['/srv'])]
  const { result } = await bench.build({ source, steps, startCmd, readyCmd: 'test -s /dev/shm/started' })
  await using server = await bench.server()
  const created = await server.create(await bench.publish(result), { MODE: 'own' })
  expect(created.status).toBe(201)
  expect(await created.read('/dev/shm/started')).toBe('template /srv\n')

  const failing = await server.create(await bench.publish(result && { ...result, startCmd: 'exit 7', readyCmd: 'false' }), {})
  expect(failing.status).toBe(500)
  expect(failing.message).toBe('Failed to place sandbox: the start command of the template failed: exit status 7')
})
