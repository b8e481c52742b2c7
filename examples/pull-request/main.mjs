// Checks a branch as a pull request: merges it into its base in a sandbox, and runs a command there.
// The code of a stranger runs without the internet and without anything of this machine: only the two branches go in.
//
//   npm start -- <repository> <base> <branch> <command>
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CommandExitError, Sandbox } from 'e2b'

const MERGE = [
  'git clone --quiet --branch "$BASE" pull-request.bundle repository',
  'cd repository',
  'git -c user.name=runner -c user.email=runner@localhost merge --quiet --no-edit "origin/$BRANCH"',
].join(' && ')

/** Both branches in one file, which `git clone` reads like a repository. */
async function bundle(repository, base, branch) {
  const folder = await mkdtemp(join(tmpdir(), 'pull-request-'))
  try {
    const file = join(folder, 'bundle')
    await promisify(execFile)('git', ['-C', repository, 'bundle', 'create', '--quiet', file, `refs/heads/${base}`, `refs/heads/${branch}`])
    return await readFile(file)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A command that fails is a result like one that passes. */
async function run(sandbox, command, options = {}) {
  try {
    return await sandbox.commands.run(command, options)
  } catch (err) {
    if (err instanceof CommandExitError) return err
    throw err
  }
}

const [repository, base, branch, command] = process.argv.slice(2)
if (command === undefined) {
  console.error('usage: npm start -- <repository> <base> <branch> <command>')
  process.exit(64)
}
const history = await bundle(repository, base, branch)
const sandbox = await Sandbox.create({ allowInternetAccess: false, timeoutMs: 600_000, metadata: { pullRequest: branch } })
try {
  await sandbox.files.write('pull-request.bundle', new Blob([history]))
  const merge = await run(sandbox, MERGE, { envs: { BASE: base, BRANCH: branch } })
  if (merge.exitCode !== 0) {
    console.log(`${branch}: cannot be merged into ${base}\n${merge.stdout}${merge.stderr}`.trimEnd())
    process.exitCode = 2
  } else {
    const show = (text) => process.stdout.write(text)
    const check = await run(sandbox, command, { cwd: 'repository', timeoutMs: 300_000, onStdout: show, onStderr: show })
    console.log(`${branch}: ${check.exitCode === 0 ? 'passed' : `failed with ${check.exitCode}`}`)
    process.exitCode = check.exitCode === 0 ? 0 : 1
  }
} finally {
  await sandbox.kill()
}
