import type { ComponentChildren } from 'preact'
import type { HostView } from '@sandyard/dashboard-contract/host'
import { Ago } from '../../parts/ago.tsx'
import { Meter } from '../../parts/meter.tsx'
import { sizeText } from '../../parts/size-text.ts'
import { durationText } from '../../parts/time-text.ts'
import { hostTexts as texts } from '../../texts/host-texts.ts'

export function HostFigures({ host }: { readonly host: HostView }) {
  const { cpuPct, memoryUsedBytes, memoryTotalBytes, diskUsedBytes, diskTotalBytes, pool, orphans, running, paused, createMs, startedAt } =
    host
  return (
    <dl class="host-figures">
      <Figure title={texts.cpu} share={cpuPct === null ? undefined : cpuPct / 100}>
        {cpuPct === null ? '–' : `${Math.round(cpuPct)} %`}
      </Figure>
      <Figure title={texts.memory} share={memoryUsedBytes / memoryTotalBytes}>
        {texts.ofText(sizeText(memoryUsedBytes), sizeText(memoryTotalBytes))}
      </Figure>
      <Figure title={texts.disk} share={diskUsedBytes === null || diskTotalBytes === null ? undefined : diskUsedBytes / diskTotalBytes}>
        {diskUsedBytes === null || diskTotalBytes === null ? '–' : texts.ofText(sizeText(diskUsedBytes), sizeText(diskTotalBytes))}
      </Figure>
      <Figure title={texts.sandboxes}>{texts.sandboxesText(running, paused)}</Figure>
      <Figure title={texts.pool}>{texts.poolText(pool.waiting, pool.wanted)}</Figure>
      <Figure title={texts.orphans}>{orphans === null ? '–' : texts.orphanFigure(orphans.count, sizeText(orphans.bytes))}</Figure>
      <Figure title={texts.creates}>
        {createMs === null ? texts.noCreates : texts.createsText(durationText(createMs.p50), durationText(createMs.p95))}
      </Figure>
      <Figure title={texts.since}>
        <Ago at={startedAt} />
      </Figure>
    </dl>
  )
}

interface FigureProps {
  readonly title: string
  readonly share?: number | undefined
  readonly children: ComponentChildren
}

function Figure({ title, share, children }: FigureProps) {
  return (
    <div class="host-figure">
      <dt>{title}</dt>
      <dd>{children}</dd>
      {share !== undefined && (
        <dd class="host-figure-meter">
          <Meter share={share} />
        </dd>
      )}
    </div>
  )
}
