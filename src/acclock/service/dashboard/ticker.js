// A worker that ticks: timers of a page that is not looked at are slowed down, a worker's are not.

setInterval(() => postMessage(null), 100);
