import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { RecordedSpans } from '@sandyard/test-kit/recorded-spans'
import { BuildFailure } from '../src/builds/build-failure.ts'
import type { BuildStep } from '../src/builds/build-plan.ts'
import { BuildBench } from './support/build-bench.ts'

/** The first build installs packages. */
vi.setConfig({ testTimeout: 300_000 })

let bench: BuildBench

/** Never ends, unlike a shell that is refused a process. */
const FORK_BOMB = "perl -e 'for (;;) { defined(fork) or sleep 1 }'"
/** Enough for package managers, and reached quickly. */
const PIDS_LIMIT = 256

beforeAll(async () => {
  bench = await BuildBench.open({ pidsLimit: PIDS_LIMIT })
})

afterAll(async () => {
  await bench[Symbol.asyncDispose]()
})

const step = (type: string, args: string[], change: Partial<BuildStep> = {}): BuildStep => ({ type, args, force: false, ...change })
const run = (...args: string[]): BuildStep => step('RUN', args)

it('builds from an image with RUN, ENV, WORKDIR, COPY and USER, and logs each step', async () => {
  const filesHash = await bench.upload({ 'data/one.txt': 'one\n', 'data/two.txt': 'two\n' })
  const steps = [
    run('echo made by $(id -un) in $PWD; echo careful >&2; sleep 1000 & echo yes > ~/made'),
    step('ENV', ['NAME', 'Hello, World!', 'PLACE', '$HOME/place', 'app.name', 'dotted']),
    step('WORKDIR', ['/srv/app']),
    step('COPY', ['data', 'files/', '', '0644'], { filesHash }),
    run('echo "$NAME $PLACE"; env | grep app.name; cat files/*; stat -c "%U %a" files/one.txt; pgrep -a sleep || echo none is left'),
    run('id -un', 'root'),
    step('USER', ['web']),
  ]
  const { result, error, log, text } = await bench.build({ steps })
  expect(error).toBeUndefined()
  const hash = expect.stringMatching(/^.* \[[0-9a-f]{12}]$/)
  expect(log.filter(({ level }) => level === 'info').map(({ message, step }) => [step, message])).toEqual([
    [undefined, expect.stringMatching(/^Building template [a-z0-9]{20}\/[0-9a-f-]{36}$/)],
    ['base', hash],
    ['base', 'Provisioning sandbox template'],
    ['base', hash],
    ['1', hash],
    ...['made by user in /home/user'].map((line) => ['1', `[builder 1/7] [stdout]: ${line}`]),
    ['1', '[builder 1/7] [stderr]: careful'],
    ['2', expect.stringMatching(/^\[builder 2\/7] ENV NAME Hello, World! PLACE \$HOME\/place app\.name dotted \[/)],
    ['3', hash],
    ['4', hash],
    ['5', hash],
    ...['Hello, World! /home/user/place', 'app.name=dotted', 'one', 'two', 'user 644', 'none is left'].map((line) => [
      '5',
      `[builder 5/7] [stdout]: ${line}`,
    ]),
    ['6', hash],
    ['6', '[builder 6/7] [stdout]: root'],
    ['7', hash],
    ['finalize', hash],
  ])
  expect(text).toContain('[base] FROM debian:bookworm-slim [')
  expect(text).toContain('[base] DEFAULT USER user [')
  expect(result).toMatchObject({
    defaultUser: 'web',
    defaultWorkdir: '/srv/app',
    env: { NAME: 'Hello, World!', PLACE: '/home/user/place' },
  })
  if (result === undefined) throw new Error('there is no result')
  const inside = await bench.inSandbox(result, 'id -un; pwd; echo "$NAME"; cat files/one.txt /home/user/made; ls /.sandyard* 2>&1')
  expect(inside.split('\n')).toEqual(['web', '/srv/app', 'Hello, World!', 'one', 'yes', expect.stringContaining('No such file')])
})

it('uses no sandbox for an unchanged build, and rebuilds only the layers after a change', async () => {
  const steps = (last: string, force = false): BuildStep[] => [
    run('date +%N > ~/first'),
    step('WORKDIR', ['work']),
    { ...run(last), force },
  ]
  const first = await bench.build({ steps: steps('echo one') })
  const again = await bench.build({ steps: steps('echo one') })
  expect(again).toMatchObject({ error: undefined, result: first.result, starts: 0 })
  expect(again.log.slice(1).map(({ message }) => message.slice(0, 7))).toEqual(Array.from({ length: 6 }, () => 'CACHED '))
  expect(again.text).not.toContain('[stdout]')

  using spans = new RecordedSpans()
  const changed = await spans.inRequest('build', () => bench.build({ steps: steps('cat ~/first; pwd') }))
  expect(changed.error).toBeUndefined()
  expect(changed.text).toMatch(/^CACHED \[builder 1\/3] RUN/m)
  expect(changed.text).toMatch(/^\[builder 2\/3] WORKDIR work \[/m)
  expect(changed.text).toMatch(/^\[builder 3\/3] \[stdout]: \/work$/m)

  const made = spans.all.filter(({ start, hasEnded }) => start.name === 'build step' && hasEnded)
  expect(made.map(({ attributes }) => attributes['sandyard.step'])).toEqual(['2', '3', 'finalize'])

  const forced = await bench.build({ steps: steps('echo one', true) })
  expect(forced.text).toMatch(/^\[builder 3\/3] \[stdout]: one$/m)
  expect(forced.result?.image).not.toBe(first.result?.image)
  const afterwards = await bench.build({ steps: steps('echo one') })
  expect(afterwards).toMatchObject({ result: forced.result, starts: 0 })
})

it('rebuilds a layer whose image was removed', async () => {
  const before = await bench.layers()
  const steps = [run('echo once')]
  const first = await bench.build({ steps })
  for (const image of await bench.layers()) if (!before.includes(image)) await bench.runtime.images.remove(image)
  const again = await bench.build({ steps })
  expect(again.error).toBeUndefined()
  expect(again.text).toMatch(/^\[builder 1\/1] \[stdout]: once$/m)
  expect(again.result?.image).not.toBe(first.result?.image)
})

it.each<[string, BuildStep[], string, string]>([
  ['a command that fails', [run('true'), run('exit 3')], '2', "failed to run command 'exit 3': exit status 3"],
  ['a command that is killed', [run('kill -9 $$')], '1', "failed to run command 'kill -9 $$': exit status 137"],
  ['a command that ends everything', [run('kill -9 -1', 'root')], '1', "failed to run command 'kill -9 -1': the build sandbox has ended"],
  [
    'an unknown user',
    [run('whoami', 'root123')],
    '1',
    "failed to run command 'whoami': command failed: unauthenticated: invalid username: 'root123'",
  ],
  [
    'a user with a group',
    [run('whoami', 'user:root')],
    '1',
    "failed to run command 'whoami': command failed: unauthenticated: invalid username: 'user:root'",
  ],
  [
    'too much memory',
    [run('tail /dev/zero')],
    '1',
    "failed to run command 'tail /dev/zero': exit status 137 (out of memory: the limit is 512 MiB)",
  ],
  ['a fork bomb', [run(FORK_BOMB)], '1', `failed to run command '${FORK_BOMB}': the limit of processes was reached`],
  ['an archive that was not uploaded', [step('COPY', ['a', '/b'], { filesHash: 'f00' })], '1', 'the files for COPY were not uploaded: f00'],
  // Wire text for an unknown step type (control-plane.md 11.4).
  ['an unknown step', [run('true'), step('EXPOSE', ['80'])], '2', 'command type EXPOSE is not implemented'],
])('fails for %s and reports the step', async (_, steps, at, message) => {
  const { error } = await bench.build({ steps })
  expect(error).toBeInstanceOf(BuildFailure)
  expect([(error as BuildFailure).message, (error as BuildFailure).step]).toEqual([message, at])
})

it('ends an endless command on abort and leaves nothing behind', async () => {
  const stop = new AbortController()
  const reason = new Error('enough')
  const { error } = await bench.build(
    { steps: [run('while true; do echo still; sleep 0.1; done')] },
    { signal: stop.signal, onLine: ({ message }) => (message.includes('[stdout]: still') ? stop.abort(reason) : undefined) },
  )
  expect(error).toBe(reason)
})
