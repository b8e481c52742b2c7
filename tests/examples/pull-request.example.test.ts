import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ProgramEnd } from '../matrix/run-program.ts'
import { copyExample, npmInstall, type ExampleCopy } from './run-example.ts'

const CHECK = 'test "$(cat total)" = 3 && echo the total is right && ! timeout 5 bash -c "exec 3<>/dev/tcp/1.1.1.1/80"'

let example: ExampleCopy
let repository: string

function git(...args: readonly string[]): void {
  execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@localhost', '-C', repository, ...args], { stdio: 'pipe' })
}

/** Commits files on a new branch that begins at a commit. */
function branch(name: string, from: string, files: Readonly<Record<string, string>>): void {
  git('checkout', '--quiet', '-B', name, from)
  for (const [file, text] of Object.entries(files)) writeFileSync(join(repository, file), text)
  git('add', '--all')
  git('commit', '--quiet', '--message', name)
}

beforeAll(async () => {
  example = await copyExample('pull-request')
  await npmInstall(example)
  repository = join(example.directory, 'repository')
  mkdirSync(repository)
  git('init', '--quiet', '--initial-branch', 'main')
  writeFileSync(join(repository, 'total'), '3\n')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'first')
  branch('good', 'main', { more: 'one file more\n' })
  branch('bad', 'main', { total: '4\n' })
  branch('moved', 'main', { total: '5\n' })
  git('checkout', '--quiet', '-B', 'release', 'bad')
})
afterAll(() => example[Symbol.asyncDispose]())

function check(base: string, name: string): Promise<ProgramEnd> {
  return example.run('npm', ['run', '--silent', 'start', '--', repository, base, name, CHECK])
}

test('the pull-request example runs the check on the merged branches, without the internet', async () => {
  const { status, stdout, stderr } = await check('main', 'good')
  expect({ status, stdout: stdout.split('\n') }, stderr).toEqual({
    status: 0,
    stdout: expect.arrayContaining(['the total is right', 'good: passed']),
  })
})

test('the pull-request example ends with 1 when the check fails, and with 2 when the branch cannot be merged', async () => {
  const failed = await check('main', 'bad')
  expect({ status: failed.status, stdout: failed.stdout }, failed.stderr).toEqual({ status: 1, stdout: 'bad: failed with 1\n' })
  const conflict = await check('release', 'moved')
  expect({ status: conflict.status, stdout: conflict.stdout }, conflict.stderr).toEqual({
    status: 2,
    stdout: expect.stringMatching(/^moved: cannot be merged into release\n.*CONFLICT.* total/s),
  })
})
