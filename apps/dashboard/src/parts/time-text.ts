const FORMAT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' })

/** Local time. */
export function timeText(at: string): string {
  return FORMAT.format(new Date(at))
}

/** The local day. */
export function dayText(at: string): string {
  return DAY.format(new Date(at))
}

/** `850 ms`, `4.2 s`, `3 min 10 s`, `2 h 5 min`, `3 d 4 h`, `1 d`. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = ms / 1000
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 60) return `${Math.round(seconds)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return `${hours} h ${minutes % 60} min`
  return hours % 24 === 0 ? `${hours / 24} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}

const SECONDS_OF_HOUR = 3600
const two = (value: number): string => String(value).padStart(2, '0')

/** `00:09`, `04:12`, `2:04:12`, `3 d 04:12:00`; `now` when nothing is left. */
export function countdownText(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  if (seconds <= 0) return 'now'
  const days = Math.floor(seconds / (24 * SECONDS_OF_HOUR))
  const hours = Math.floor(seconds / SECONDS_OF_HOUR) % 24
  const rest = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`
  if (days > 0) return `${days} d ${two(hours)}:${rest}`
  return hours > 0 ? `${hours}:${rest}` : rest
}

/** `just now`, `12 s ago`, `5 min ago`, `3 h ago`, `4 d ago`. */
export function agoText(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  if (seconds < 3) return 'just now'
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < SECONDS_OF_HOUR) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 48 * SECONDS_OF_HOUR) return `${Math.floor(seconds / SECONDS_OF_HOUR)} h ago`
  return `${Math.floor(seconds / (24 * SECONDS_OF_HOUR))} d ago`
}
