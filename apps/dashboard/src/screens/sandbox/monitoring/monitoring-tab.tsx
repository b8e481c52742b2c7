import type { SandboxMetric } from '@sandyard/api-contract/sandboxes/sandbox-metrics'
import type { MetricSample } from '@sandyard/dashboard-contract/live/topics'
import { useLocation } from 'preact-iso/router'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { useCall } from '../../../api/use-call.ts'
import { wire } from '../../../api/wire.ts'
import { paths } from '../../../frame/paths.ts'
import { subscribe } from '../../../live/live-client.ts'
import { FailureNotice } from '../../../parts/failure-notice.tsx'
import { Panel } from '../../../parts/panel.tsx'
import { sizeText } from '../../../parts/size-text.ts'
import '../../../styles/sandbox-panels.css'
import { monitoringTexts as texts } from '../../../texts/sandbox-panels-texts.ts'
import { readTimeline } from '../timeline/read-timeline.ts'
import type { SandboxTabProps } from '../sandbox-tab.ts'
import { Chart, type ChartProps } from './chart.tsx'
import { fromWire, pausedBands, rangeOf, RANGES, toSeries, withSample, type Series } from './samples.ts'

const percentText = (value: number): string => `${Math.round(value)} %`

export function MonitoringTab({ sandbox }: SandboxTabProps) {
  const { sandboxId, startedAt, state } = sandbox
  const { query, route } = useLocation()
  const range = RANGES.find((name) => name === query['range']) ?? 'all'
  const isLive = state === 'running' && range !== 'first5'
  const loaded = useCall(`metrics ${sandboxId} ${range}`, async (signal) => {
    const { data } = await wire<SandboxMetric[]>('GET', `/sandboxes/${sandboxId}/metrics`, {
      query: rangeOf(range, startedAt, Date.now()),
      signal,
    })
    return data.map(fromWire)
  })
  const pauses = useCall(`pauses ${sandboxId} ${state}`, async (signal) => {
    const { entries } = await readTimeline({ sandboxId, lanes: ['lifecycle'], order: 'desc' }, null, signal)
    return pausedBands(entries, Date.now())
  })
  const [fresh, setFresh] = useState<readonly MetricSample[]>([])
  const [zoom, setZoom] = useState<readonly [number, number] | undefined>(undefined)
  useEffect(() => {
    setZoom(undefined)
    setFresh([])
  }, [range, loaded.value])
  useEffect(() => {
    if (!isLive) return undefined
    const add = (samples: Readonly<Record<string, MetricSample>>): void => {
      const sample = samples[sandboxId]
      if (sample !== undefined) setFresh((former) => withSample(former, sample))
    }
    return subscribe<'metrics'>(`metrics:${sandboxId}`, { onSnapshot: add, onPatch: add })
  }, [sandboxId, isLive])

  const series = useMemo(() => toSeries(fresh.reduce(withSample, loaded.value ?? [])), [loaded.value, fresh])
  const common = { at: series.at, bands: pauses.value ?? [], zoom, onZoom: setZoom }
  return (
    <div class="stack">
      <div class="toolbar">
        <div class="button-group" role="group" aria-label={texts.ranges}>
          {RANGES.map((name) => (
            <button
              key={name}
              type="button"
              class="button button-small"
              aria-pressed={name === range}
              onClick={() => route(`${paths.sandbox(sandboxId, 'monitoring')}${name === 'all' ? '' : `?range=${name}`}`, true)}
            >
              {texts.presets[name]}
            </button>
          ))}
        </div>
        {zoom !== undefined && (
          <button type="button" class="button button-small" onClick={() => setZoom(undefined)}>
            {texts.zoomed}
          </button>
        )}
        <span class="muted small">{texts.hint}</span>
      </div>
      <FailureNotice failure={loaded.failure} onRetry={loaded.reload} />
      {series.at.length === 0 && !loaded.isLoading && <p class="empty">{texts.none}</p>}
      {series.at.length > 0 && <Charts series={series} common={common} />}
    </div>
  )
}

type Common = Pick<ChartProps, 'at' | 'bands' | 'zoom' | 'onZoom'>

function Charts({ series, common }: { readonly series: Series; readonly common: Common }) {
  const { cpuPct, memoryUsed, memoryCache, diskUsed, memoryTotal, diskTotal } = series
  return (
    <>
      <Metric
        {...common}
        name={texts.cpu}
        lines={[{ label: texts.used, colour: 'accent', values: cpuPct }]}
        most={100}
        valueText={percentText}
      />
      <Metric
        {...common}
        name={texts.memory}
        lines={[
          { label: texts.used, colour: 'good', values: memoryUsed },
          { label: texts.cache, colour: 'warn', values: memoryCache },
        ]}
        most={memoryTotal}
        valueText={sizeText}
      />
      <Metric
        {...common}
        name={texts.disk}
        lines={[{ label: texts.used, colour: 'accent', values: diskUsed }]}
        most={diskTotal}
        valueText={sizeText}
      />
    </>
  )
}

function Metric({ name, ...chart }: Omit<ChartProps, 'label'> & { readonly name: string }) {
  const values = (chart.lines[0]?.values ?? []).filter((value) => value !== null)
  const last = chart.valueText(values.at(-1) ?? 0)
  const most = chart.valueText(values.reduce((one, other) => Math.max(one, other), 0))
  return (
    <Panel
      title={name}
      actions={
        <span class="muted small number">
          {texts.last(last)} · {texts.most(most)}
        </span>
      }
    >
      <Chart {...chart} label={texts.summary(name, last, most)} />
    </Panel>
  )
}
