import { useEffect, useState } from 'preact/hooks'
import type { MetricSample } from '@sandyard/dashboard-contract/live/topics'
import { MAX_METRIC_SANDBOXES } from '@sandyard/dashboard-contract/limits'
import { addTopic } from '../../live/topic-registry.ts'

type Samples = Readonly<Record<string, MetricSample>>

/** The newest samples of the first 100 of `ids`. Those of the former ids stay until newer ones come, so that numbers do not flicker. */
export function useMetrics(ids: readonly string[]): Samples {
  const [samples, setSamples] = useState<Samples>({})
  const asked = ids.slice(0, MAX_METRIC_SANDBOXES).toSorted().join(',')
  useEffect(() => {
    if (asked === '') return undefined
    const wanted = new Set(asked.split(','))
    const take = (newer: Samples): void =>
      setSamples((former) => ({ ...Object.fromEntries(Object.entries(former).filter(([id]) => wanted.has(id))), ...newer }))
    return addTopic(`metrics:${asked}`, { onSnapshot: take, onPatch: take })
  }, [asked])
  return samples
}
