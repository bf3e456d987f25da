package shop

import (
	_ "net/http/pprof" // expect
)

func start(e *echo.Echo) {
	gin.SetMode(gin.DebugMode) // expect
	e.Debug = true // expect
	app := fiber.Config{EnablePrintRoutes: true} // expect
}

func safe(e *echo.Echo) {
	gin.SetMode(gin.ReleaseMode) // ok: off
	e.Debug = false // ok: off
	e.Verbose = true // ok: something else
}
