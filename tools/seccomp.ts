/**
 * The seccomp profile of sandboxes: `npm run seccomp -- <folder>` writes it for an engine, `npm run seccomp -- --compare <file>` prints how it
 * differs for a sandbox from another one, such as the engine's own (seccomp/default.json of github.com/moby/profiles, or the
 * /usr/share/containers/seccomp.json of a distribution).
 */
import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { KEPT_CAPABILITIES } from '../packages/runtime-docker/src/containers/container-spec.ts'
import { SECCOMP_FILE, SECCOMP_JSON, SECCOMP_PROFILE } from '../packages/runtime-docker/src/seccomp/seccomp-profile.ts'
import { compareProfiles, type Profile } from './seccomp-profile/compare-profiles.ts'

const [first, second] = process.argv.slice(2)
if (first === '--compare' && second !== undefined) await printDifferences(second)
else if (first !== undefined && !first.startsWith('-')) await writeProfile(first)
else {
  process.stderr.write('usage: npm run seccomp -- <folder> | --compare <profile.json>\n')
  process.exitCode = 2
}

async function writeProfile(folder: string): Promise<void> {
  const file = resolve(folder, SECCOMP_FILE)
  await writeFile(file, SECCOMP_JSON)
  process.stdout.write(
    `sandyard: ${file}\nsandyard: start the engine with --seccomp-profile, or with "seccomp-profile" in its daemon.json\n`,
  )
}

async function printDifferences(file: string): Promise<void> {
  const theirs = JSON.parse(await readFile(file, 'utf8')) as Profile
  const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64'
  const subject = { capabilities: KEPT_CAPABILITIES.map((name) => `CAP_${name}`), architecture }
  const differences = compareProfiles(SECCOMP_PROFILE, theirs, subject)
  for (const { call, ours, theirs: other } of differences) process.stdout.write(`${call}: here ${ours}, there ${other}\n`)
  process.stdout.write(`${differences.length} calls differ for a sandbox on ${architecture}\n`)
}
