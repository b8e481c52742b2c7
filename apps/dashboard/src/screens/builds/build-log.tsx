import { useMemo, useState } from 'preact/hooks'
import type { BuildDetail, BuildLine } from '@sandyard/dashboard-contract/templates'
import { call } from '../../api/call.ts'
import { LogLines } from '../../parts/log-lines.tsx'
import type { LogRow } from '../../parts/log-search.ts'
import { saveFile } from '../../parts/save-file.ts'
import { buildsTexts as texts } from '../../texts/builds-texts.ts'

const PAGE_LINES = 1000

/** The lines of the topic, and the older ones when they are asked for. */
export function BuildLog({ build, lines }: { readonly build: BuildDetail; readonly lines: readonly BuildLine[] }) {
  const { buildId } = build
  const [older, setOlder] = useState<readonly BuildLine[]>([])
  const rows = useMemo(() => [...older, ...lines].map(rowOf), [older, lines])
  const first = older[0]?.number ?? lines[0]?.number ?? 1
  const loadOlder = async (): Promise<void> => {
    const limit = Math.min(PAGE_LINES, first - 1)
    const page = await call('GET /builds/{buildId}/lines', { params: { buildId }, query: { after: first - 1 - limit, limit } })
    setOlder((former) => [...page.lines.filter(({ number }) => number < first), ...former])
  }
  const download = async (): Promise<void> => saveFile(`build-${buildId}.log`, new Blob(await readAll(buildId), { type: 'text/plain' }))
  return (
    <section class="panel" aria-labelledby="log">
      <div class="panel-head">
        <h2 id="log">{texts.log}</h2>
      </div>
      <div class="panel-body build-log">
        <LogLines
          label={texts.logOf}
          name="build"
          rows={rows}
          isLive={build.finishedAt === null}
          empty={texts.emptyLog}
          onDownload={download}
          onOlder={first > 1 ? loadOlder : undefined}
        />
      </div>
    </section>
  )
}

function rowOf({ number, at, level, step, text }: BuildLine): LogRow {
  return { key: String(number), at: Date.parse(at), level, text, ...(step !== null && { label: step }) }
}

async function readAll(buildId: string): Promise<string[]> {
  const parts: string[] = []
  for (let after = 0, hasMore = true; hasMore;) {
    const page = await call('GET /builds/{buildId}/lines', { params: { buildId }, query: { after, limit: PAGE_LINES } })
    for (const { at, level, step, text } of page.lines) parts.push(`${at} ${level} ${step === null ? '' : `[${step}] `}${text}\n`)
    after = page.lines.at(-1)?.number ?? after
    hasMore = page.hasMore && page.lines.length > 0
  }
  return parts
}
