import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useColours } from '../../../parts/use-colours.ts'

const NAMES = ['muted', 'line', 'accent', 'good', 'warn', 'sunken'] as const

interface Line {
  readonly label: string
  readonly colour: 'accent' | 'good' | 'warn'
  readonly values: readonly (number | null)[]
}

export interface ChartProps {
  readonly label: string
  /** Unix seconds. */
  readonly at: readonly number[]
  readonly lines: readonly Line[]
  readonly most: number
  readonly valueText: (value: number) => string
  /** Shaded: from and to in Unix seconds. */
  readonly bands: readonly (readonly [number, number])[]
  readonly zoom: readonly [number, number] | undefined
  readonly onZoom: (zoom: readonly [number, number] | undefined) => void
}

const HEIGHT = 150

/** Axis steps for bytes: powers of two, so that labels are round. */
const BYTE_STEPS = Array.from({ length: 50 }, (_, power) => 2 ** power)

/** Clock times of 24 hours. */
const TIMES: uPlot.Axis.Values = (_, instants, __, ___, stepS) =>
  instants.map((at) => {
    const text = new Date(at * 1000).toLocaleTimeString('en-GB')
    return stepS < 60 ? text : text.slice(0, 5)
  })

/** A chart with time below. A drag zooms, a double click zooms out; the pointer of all charts is at the same instant. */
export function Chart(props: ChartProps) {
  const { label, at, lines, most, zoom } = props
  const frame = useRef<HTMLDivElement>(null)
  const plotRef = useRef<uPlot | undefined>(undefined)
  const propsRef = useRef(props)
  const colours = useColours(NAMES)
  useEffect(() => {
    propsRef.current = props
  })

  useEffect(() => {
    const element = frame.current
    if (element === null) return undefined
    const text = (value: number): string => propsRef.current.valueText(value)
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        // Room for half of the last time.
        padding: [null, 32, null, null],
        cursor: { sync: { key: 'sandbox' }, drag: { x: true, y: false, setScale: false }, points: { size: 6 } },
        legend: { show: true, live: true },
        scales: { y: { range: () => [0, propsRef.current.most] } },
        axes: [
          {
            stroke: colours.muted,
            grid: { stroke: colours.line, width: 1 },
            ticks: { stroke: colours.line },
            size: 34,
            space: 80,
            values: TIMES,
          },
          {
            stroke: colours.muted,
            grid: { stroke: colours.line, width: 1 },
            ticks: { stroke: colours.line },
            size: 72,
            ...(most > 1000 && { incrs: BYTE_STEPS }),
            values: (_, values) => values.map(text),
          },
        ],
        series: [
          { value: (_, at: number | null) => (at === null ? '–' : new Date(at * 1000).toLocaleTimeString('en-GB')) },
          ...lines.map((line, index) => ({
            label: line.label,
            stroke: colours[line.colour],
            width: 1.5,
            ...(index === 0 && { fill: colours[line.colour].replace(')', ' / 0.12)').replaceAll(',', ' ') }),
            points: { show: false },
            value: (_: uPlot, value: number | null) => (value === null ? '–' : text(value)),
          })),
        ],
        hooks: {
          drawClear: [(drawn) => drawBands(drawn, propsRef.current.bands, colours.sunken)],
          setSelect: [
            (drawn) => {
              const { left, width } = drawn.select
              if (width > 4) propsRef.current.onZoom([drawn.posToVal(left, 'x'), drawn.posToVal(left + width, 'x')])
              drawn.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
            },
          ],
        },
      },
      dataOf(propsRef.current),
      element,
    )
    plotRef.current = plot
    const out = (): void => propsRef.current.onZoom(undefined)
    plot.over.addEventListener('dblclick', out)
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      plot.destroy()
      plotRef.current = undefined
    }
  }, [colours, lines.length])

  useEffect(() => {
    const plot = plotRef.current
    if (plot === undefined) return
    plot.setData(dataOf(propsRef.current))
    if (zoom !== undefined) plot.setScale('x', { min: zoom[0], max: zoom[1] })
  }, [at, zoom, most, colours])

  return <div ref={frame} class="chart" role="img" aria-label={label} />
}

function dataOf({ at, lines }: ChartProps): uPlot.AlignedData {
  return [[...at], ...lines.map(({ values }) => [...values])]
}

function drawBands(plot: uPlot, bands: ChartProps['bands'], colour: string): void {
  const { ctx, bbox } = plot
  ctx.save()
  ctx.fillStyle = colour
  for (const [from, to] of bands) {
    const left = Math.max(bbox.left, plot.valToPos(from, 'x', true))
    const right = Math.min(bbox.left + bbox.width, plot.valToPos(to, 'x', true))
    if (right > left) ctx.fillRect(left, bbox.top, right - left, bbox.height)
  }
  ctx.restore()
}
