import ConnectionPool
import Testing

@Suite("Pool: how many connections")
struct PoolSizeTests {
    @Test("With latency the pool grows until nothing waits", arguments: [25, 100])
    func growsWithLatency(milliseconds: Int) {
        var world = LinkWorld(.init(latencyMilliseconds: milliseconds))
        world.run(milliseconds: 10_000, outstanding: 100)
        // Twenty streams each: five connections carry a hundred pushes.
        #expect((5...6).contains(world.connectionCount))
        #expect(world.pool.waitingCount == 0)
        #expect(world.pool.counts.openedForStreams == world.connectionCount - 1)
        #expect(world.pool.counts.grownInVain == 0)
    }

    @Test("The pool grows to its limit and not beyond, and the rate grows with it", arguments: [25, 100])
    func growsToTheLimit(milliseconds: Int) {
        var world = LinkWorld(.init(latencyMilliseconds: milliseconds))
        world.run(milliseconds: 10_000, outstanding: 4_000)
        #expect(world.connectionCount == 8)
        #expect(world.largestConnectionCount == 8)
        let before = world.answeredCount
        world.run(milliseconds: 1_000, outstanding: 4_000)
        #expect(world.answeredCount - before >= 8 * 20 * 1_000 / milliseconds * 9 / 10)
    }

    @Test("Exhausted flow-control windows make it grow while streams are free")
    func growsWithWindows() {
        var world = LinkWorld(.init(latencyMilliseconds: 50, streamsMaximum: 1_000, bodyBytes: 4_000))
        world.run(milliseconds: 10_000, outstanding: 100)
        // Sixteen bodies fit into one window.
        #expect((7...8).contains(world.connectionCount))
        #expect(world.pool.waitingCount == 0)
        #expect(world.pool.counts.openedForWindow > 0)
        #expect(world.pool.counts.openedForStreams == 0)
    }

    @Test("A pool that has what it needs does not grow, however long the way")
    func staysSmall() {
        var world = LinkWorld(.init(latencyMilliseconds: 100))
        world.run(milliseconds: 20_000, outstanding: 20)
        #expect(world.largestConnectionCount == 1)
    }

    @Test("A pool that was never used keeps one connection; with the first push it opens the others, and keeps them")
    func opensTheRestWithTheFirstPush() {
        var world = LinkWorld(.init(latencyMilliseconds: 10)) {
            $0.connections = 3
            $0.connectionsUnused = 1
        }
        world.run(milliseconds: 5_000, outstanding: 0)
        #expect(world.connectionCount == 1)
        world.run(milliseconds: 1_000, outstanding: 1)
        #expect(world.connectionCount == 3)
        world.run(milliseconds: 200_000, outstanding: 0)
        #expect(world.connectionCount == 3)
    }

    @Test("Growing that brings no more answers is taken back, and tried again ever more rarely")
    func takesBackGrowthInVain() {
        var world = LinkWorld(.init(latencyMilliseconds: 2, answersPerMillisecondMaximum: 5))
        world.run(milliseconds: 2_000, outstanding: 1_000)
        #expect(world.connectionCount == 1)
        #expect(world.pool.counts.grownInVain == 1)
        world.run(milliseconds: 58_000, outstanding: 1_000)
        #expect((2...4).contains(world.pool.counts.grownInVain))
        #expect(world.largestConnectionCount == 2)
    }

    @Test(
        "A bound in time is kept and used up, and pushes that wait for it open no connection", arguments: [30, 1_000])
    func pace(perSecond: Int) {
        var world = LinkWorld(.init(latencyMilliseconds: 5)) { $0.pushesPerMinuteMaximum = perSecond * 60 }
        world.run(milliseconds: 1_000, outstanding: 1_000)
        var before = world.answeredCount
        for _ in 0..<9 {
            world.run(milliseconds: 1_000, outstanding: 1_000)
            #expect((perSecond * 97 / 100...perSecond * 103 / 100).contains(world.answeredCount - before))
            before = world.answeredCount
        }
        // One connection carries 4,000 a second.
        #expect(world.largestConnectionCount == 1)
        // A pause is made up for by no more than a burst.
        world.run(milliseconds: 5_000, outstanding: 0)
        before = world.answeredCount
        world.run(milliseconds: 1_000, outstanding: 1_000)
        #expect(world.answeredCount - before <= perSecond * 11 / 10 + 1)
    }

    @Test("What is not needed any more is closed, one at a time and after the hold time, down to the least")
    func shrinks() {
        var world = LinkWorld(.init()) { $0.shrinkIntervalNanoseconds = 5_000_000_000 }
        world.run(milliseconds: 5_000, outstanding: 4_000)
        #expect(world.connectionCount == 8)
        world.run(milliseconds: 10_000, outstanding: 4_000)
        #expect(world.connectionCount == 8, "under load it keeps what it has")
        world.run(milliseconds: 12_000, outstanding: 60)
        #expect((5...7).contains(world.connectionCount))
        world.run(milliseconds: 60_000, outstanding: 60)
        #expect(world.connectionCount == 4, "sixty pushes fill three, and a quarter stays free")
        world.run(milliseconds: 60_000, outstanding: 0)
        #expect(world.connectionCount == 1)
        #expect(world.pool.counts.retired == 7)
        #expect(world.closedCount == 7)
    }

    @Test("A pool that keeps no connection opens one for the first push and closes it when it is idle")
    func connectsOnDemand() {
        var world = LinkWorld(.init()) {
            $0.connections = 0
            $0.connectionsMaximum = 1
        }
        world.run(milliseconds: 1_000, outstanding: 0)
        #expect(world.connectionCount == 0)
        world.run(milliseconds: 1_000, outstanding: 1)
        #expect(world.connectionCount == 1)
        #expect(world.answeredCount > 0)
        world.run(milliseconds: 200_000, outstanding: 0)
        #expect(world.connectionCount == 0)
        world.run(milliseconds: 1_000, outstanding: 1)
        #expect(world.connectionCount == 1)
    }

    @Test("A GOAWAY on a pool that has grown is followed by a replacement, before the connection drains")
    func keepsItsSize() {
        var world = LinkWorld(.init())
        world.run(milliseconds: 5_000, outstanding: 4_000)
        world.goAway(1)
        #expect(world.pool.states.draining == 1)
        #expect(world.connectionCount == 8)
        world.run(milliseconds: 1_000, outstanding: 4_000)
        #expect(world.pool.states.open == 8)
        #expect(world.pool.states.draining == 0)
    }

    @Test("A peer that answers but never opens its window costs no push: its connections are replaced")
    func replacesTheStarved() {
        var world = LinkWorld(.init(streamsMaximum: 1_000, bodyBytes: 4_000, opensWindow: false)) {
            $0.connectionsMaximum = 1
        }
        world.run(milliseconds: 20_000, outstanding: 50)
        #expect(world.pool.counts.evictedStarved >= 10)
        #expect(world.answeredCount >= 16 * 10)
        #expect(world.connectionCount == 1)
    }
}
