import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { addCounts, NOTHING, oneFailed, onePassed, oneSkipped, type Counts } from '../../tools/gate/counts.ts'
import { prepareEngine } from '../../tools/gate/prepare-engine.ts'
import { Course } from './course.ts'
import { GREEDY_DRILLS, QUIET_DRILLS } from './drills/all-drills.ts'
import { runDrill } from './drills/drill.ts'
import { judge, type Row } from './judge.ts'
import { ALL_PROBES } from './probes/all-probes.ts'
import { renderTable } from './table.ts'

/**
 * Tries the ways out of sandboxes and builds, on a server of its own: `npm run escape [-- --only <part of an id>]`. Prints a table of what was
 * tried, from where, as whom, what happens where it is allowed, and what happened. Exits with 1 if a way is open, or if a probe does not
 * work where it is allowed. `SANDYARD_TEST_REPORT` names a file for the counts, for the gate.
 */
async function main(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({ args: [...args], options: { only: { type: 'string' } } })
  const isChosen = ({ id }: { readonly id: string }): boolean => id.includes(values.only ?? '')
  const probes = ALL_PROBES.filter((probe) => isChosen(probe) || probe.mustBeOpen)
  await prepareEngine((line) => console.error(`   ${line}`))
  const startedAt = performance.now()
  const say = (what: string): void => console.error(`   ${((performance.now() - startedAt) / 1000).toFixed(1)} s: ${what}`)
  await using course = await Course.open(probes)
  say('the server, its neighbour and the world around them are ready')
  const evidence = await course.run(probes)
  say('the probes have ended')
  const rows = probes.flatMap((probe) => judge(probe, evidence))
  rows.push(...(await Promise.all(QUIET_DRILLS.filter(isChosen).map((drill) => runDrill(drill, course)))).flat())
  say('the drills that take several steps have ended')
  for (const drill of GREEDY_DRILLS.filter(isChosen)) rows.push(...(await runDrill(drill, course)))
  say('the drills that exhaust something have ended')
  console.log(renderTable(rows))
  const counts = countsOf(rows)
  for (const failure of counts.failures) console.log(`\n${failure}`)
  console.log(`\n${counts.passed} in order, ${counts.failed} open or broken, ${counts.skipped} absent here`)
  await report(counts)
  return counts.failed === 0
}

/** One for each probe, in all its places. */
function countsOf(rows: readonly Row[]): Counts {
  const probes = Object.entries(Object.groupBy(rows, ({ id }) => id))
  return addCounts(
    probes.map(([id, group = []]) => {
      const bad = group.filter(({ verdict }) => verdict === 'OPEN' || verdict === 'BROKEN')
      if (bad.length > 0)
        return oneFailed(`escape > ${id}: ${bad.map(({ verdict, result, control }) => `${verdict}, ${result} (${control})`).join('; ')}`)
      const absent = group.find(({ verdict }) => verdict === 'absent here')
      return absent === undefined ? onePassed() : oneSkipped(`escape > ${id}`, `absent here: ${absent.title} (${absent.control})`)
    }),
  )
}

async function report(counts: Counts): Promise<void> {
  const file = process.env['SANDYARD_TEST_REPORT']
  if (file === undefined) return
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, JSON.stringify(addCounts([NOTHING, counts])))
}

process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1
